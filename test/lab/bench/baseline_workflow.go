package bench

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"despacho/internal/config"
	"despacho/internal/guidecode"
	"despacho/models"
	"despacho/workflows"
)

// The baseline of orders: a workflow that only stays open, with an update that runs an empty local
// activity.
const (
	bareQueue        = "bare"
	bareWorkflowName = "Bare"
	bareUpdate       = "touch"
	bareActivity     = "Nothing"
)

// bareWorkflow has no timer, no search attributes and no other activities: the difference to an
// order's workflow is the order's own cost.
func bareWorkflow(ctx workflow.Context, _ workflows.OrderInput) error {
	err := workflow.SetUpdateHandler(ctx, bareUpdate, func(ctx workflow.Context) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: 10 * time.Second})
		return workflow.ExecuteLocalActivity(ctx, bareActivity).Get(ctx, nil)
	})
	if err != nil {
		return err
	}
	workflow.GetSignalChannel(ctx, "never sent").Receive(ctx, nil)
	return nil
}

func noop(context.Context) error { return nil }

// startBareWorker runs the bare workflow's worker in this process, with as many pollers as the
// service's worker has.
func (s *stack) startBareWorker(context.Context) error {
	w := worker.New(s.Client, bareQueue, worker.Options{MaxConcurrentWorkflowTaskPollers: 16})
	w.RegisterWorkflowWithOptions(bareWorkflow, workflow.RegisterOptions{Name: bareWorkflowName})
	w.RegisterActivityWithOptions(noop, activity.RegisterOptions{Name: bareActivity})
	if err := w.Start(); err != nil {
		return err
	}
	s.OnClose(func(context.Context) error { w.Stop(); return nil })
	return nil
}

// startBare starts a bare workflow with an input of the size that an order's has, and returns its
// id.
func (s *stack) startBare(ctx context.Context) (string, error) {
	order := uuid.New()
	return s.startWith(ctx, client.StartWorkflowOptions{ID: "bare-" + order.String(), TaskQueue: bareQueue}, bareWorkflowName,
		order, guidecode.New())
}

// startOrder starts an order's workflow as the api does, without an order in the database, which a
// workflow with a snapshot does not read. It returns its id.
func (v *service) startOrder(ctx context.Context) (string, error) {
	order, code := uuid.New(), guidecode.New()
	return v.stack.startWith(ctx, client.StartWorkflowOptions{
		ID: workflowOf(order), TaskQueue: v.queue, StaticSummary: "Guía " + code,
		WorkflowTaskTimeout:   config.DefaultTimeouts().WorkflowTask,
		Priority:              temporal.Priority{FairnessKey: id("operator", mainOperator).String()},
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			workflows.GuideCodeAttribute.ValueSet(code),
			workflows.OperatorAttribute.ValueSet(id("operator", mainOperator).String()),
		),
	}, workflows.OrderWorkflowName, order, code)
}

// startBurst is how many order workflows a second are started with the call that a creation makes,
// by the clients of a burst.
func (v *service) startBurst(ctx context.Context) (float64, error) {
	_, rate, err := v.stack.callBurst(ctx, func(ctx context.Context, _ int) (string, error) { return v.startOrder(ctx) })
	return rate, err
}

func (s *stack) startWith(
	ctx context.Context, options client.StartWorkflowOptions, workflowType string, order uuid.UUID, guideCode string,
) (string, error) {
	run, err := s.Client.ExecuteWorkflow(ctx, options, workflowType, workflows.OrderInput{OrderID: order, Snapshot: &workflows.Snapshot{
		State: models.State{Status: models.StatusRegistered}, Seq: 1, GuideCode: guideCode,
		AutoCancelAt: time.Now().UTC().Add(24 * time.Hour),
	}})
	if err != nil {
		return "", err
	}
	return run.GetID(), nil
}

// update sends an update and waits for its outcome.
func (s *stack) update(ctx context.Context, workflowID, name string, args ...any) error {
	handle, err := s.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

package orders

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/db"
	"despacho/models"
	"despacho/workflows"
)

// workflowStart is a created order and what its workflow starts with.
type workflowStart struct {
	*models.Order
	storeName string
	snapshot  *workflows.Snapshot
}

// OverdueAfter is how long after its due time an order or a delivery is reconciled.
const OverdueAfter = 2 * time.Minute

// lateStart is how long after its creation an order is read again before its workflow is started.
const lateStart = time.Second

// start starts the workflow of a created order. One that has moved meanwhile has a workflow, by its
// move. It may have ended and been erased, with the history that would refuse a second run.
func (s *Service) start(ctx context.Context, order workflowStart) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.StartTimeout)
	defer cancel()
	if s.clock.Now().Sub(order.CreatedAt) > lateStart {
		if current, err := s.db.OrderViewByID(ctx, order.ID); err != nil || current.Seq > order.Seq {
			return err
		}
	}
	if order.Test {
		if err := s.startSimulation(ctx, order.Order); err != nil {
			return err
		}
	}
	options := s.startOptions(order.Order, order.storeName)
	// With REJECT_DUPLICATE a retry after a lost response finds the workflow already started, and a
	// move that started it first has not to fear a second run.
	options.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	err := s.execute(ctx, options, workflows.OrderInput{OrderID: order.ID, Snapshot: order.snapshot})
	if err != nil && !isAlreadyStarted(err) {
		return err
	}
	s.confirmations.add(order.ID, order.Seq)
	return nil
}

// Reconcile reconciles one order: starts its workflow, or signals `refresh`. The signal is for a
// run that missed a move: an update enters the history only after its move is in the database, and
// a crash in between loses it from the history.
func (s *Service) Reconcile(ctx context.Context, orderID uuid.UUID) error {
	view, err := s.db.OrderViewByID(ctx, orderID)
	if err != nil {
		return err
	}
	return s.reconcile(ctx, view)
}

// ReconcileUnconfirmed is Reconcile for an order whose workflow was unconfirmed when it was listed.
// If it was confirmed since, there is nothing to do.
func (s *Service) ReconcileUnconfirmed(ctx context.Context, orderID uuid.UUID) error {
	view, err := s.db.OrderViewByID(ctx, orderID)
	if err != nil || view.WorkflowStartedAt != nil {
		return err
	}
	return s.reconcile(ctx, view)
}

func (s *Service) reconcile(ctx context.Context, view *models.OrderView) (err error) {
	switch {
	case view.Status.Ended():
		if err = s.signalRefresh(ctx, view.ID); isNotRunning(err) {
			err = nil // an ended order needs no running workflow
		}
	default:
		err = s.startOrRefresh(ctx, view)
	}
	if err == nil {
		s.confirmations.add(view.ID, view.Seq)
	}
	return err
}

// startOrRefresh starts the order's workflow. A running one is told to reload the order.
func (s *Service) startOrRefresh(ctx context.Context, view *models.OrderView) error {
	if view.Test {
		if err := s.startSimulation(ctx, &view.Order); err != nil {
			return err
		}
	}
	storeName, err := s.storeNameOf(ctx, &view.Order)
	if err != nil {
		return err
	}
	options, input := s.startOptions(&view.Order, storeName), workflows.OrderInput{OrderID: view.ID}
	// A run that completed may have ended the order since it was read. Then the new one ends at once.
	options.WorkflowExecutionErrorWhenAlreadyStarted = true
	if err = s.execute(ctx, options, input); !isAlreadyStarted(err) {
		return err
	}
	described, err := s.temporal.DescribeWorkflowExecution(ctx, options.ID, "")
	switch {
	case err != nil:
		return err
	case described.WorkflowExecutionInfo.Status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return nil
	case described.ExecutionConfig.TaskQueue.GetName() != s.options.TaskQueue:
		// No worker serves that queue: TEMPORAL_TASK_QUEUE was changed, or a person started it.
		s.log.WarnContext(ctx, "an order's workflow is on another task queue; it is replaced", "order_id", view.ID, "task_queue",
			described.ExecutionConfig.TaskQueue.GetName())
		options.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
		return s.execute(ctx, options, input)
	}
	return s.signalRefresh(ctx, view.ID) // if the run has ended meanwhile, the next pass looks again
}

// signalRefresh tells an order's workflow to reload the order.
func (s *Service) signalRefresh(ctx context.Context, orderID uuid.UUID) error {
	return s.temporal.SignalWorkflow(ctx, workflows.OrderWorkflowID(orderID), "", workflows.RefreshName, nil)
}

// execute starts an order's workflow.
func (s *Service) execute(ctx context.Context, options client.StartWorkflowOptions, input workflows.OrderInput) error {
	return s.startWith(ctx, options, func(options client.StartWorkflowOptions) error {
		_, err := s.temporal.ExecuteWorkflow(ctx, options, workflows.OrderWorkflowName, input)
		return err
	})
}

// startWith calls start and, if Temporal does not accept the request, once more without search
// attributes: a namespace may lack one of them, and an order must not wait for an administrator.
func (s *Service) startWith(
	ctx context.Context, options client.StartWorkflowOptions, start func(client.StartWorkflowOptions) error,
) error {
	err := start(options)
	var invalid *serviceerror.InvalidArgument
	if !errors.As(err, &invalid) {
		return err
	}
	options.TypedSearchAttributes = temporal.SearchAttributes{}
	without := start(options)
	if without == nil {
		s.withoutAttributes.Do(func() {
			s.log.WarnContext(ctx, "orders' workflows are started without search attributes", "order_workflow", options.ID,
				"error", err)
		})
	}
	return without
}

func (s *Service) startOptions(order *models.Order, storeName string) client.StartWorkflowOptions {
	summary := "Guía " + order.GuideCode
	if storeName != "" {
		summary += " · " + storeName
	}
	if order.Test {
		summary += " · prueba"
	}
	attributes := []temporal.SearchAttributeUpdate{
		workflows.GuideCodeAttribute.ValueSet(order.GuideCode),
		workflows.OperatorAttribute.ValueSet(order.OperatorID.String()),
	}
	if order.StoreID != nil {
		attributes = append(attributes, workflows.StoreAttribute.ValueSet(order.StoreID.String()))
	}
	// A Temporal server with fairness dispatches the tasks of all operators in turn, by the key, which
	// activities inherit. One without it ignores the key.
	return client.StartWorkflowOptions{
		ID:                    workflows.OrderWorkflowID(order.ID),
		TaskQueue:             s.options.TaskQueue,
		WorkflowTaskTimeout:   s.options.WorkflowTaskTimeout,
		StaticSummary:         workflows.Summary(summary),
		Priority:              temporal.Priority{FairnessKey: order.OperatorID.String()},
		TypedSearchAttributes: temporal.NewSearchAttributes(attributes...),
	}
}

func (s *Service) storeNameOf(ctx context.Context, order *models.Order) (string, error) {
	if order.StoreID == nil {
		return "", nil
	}
	store, err := s.db.Store(ctx, *order.StoreID)
	if db.IsNotFound(err) {
		return "", nil // it is only for display
	}
	if err != nil {
		return "", err
	}
	return store.Name, nil
}

// IsUnavailable reports whether an order was not started or erased because Temporal or the database
// does not answer: others would fail as well. Of a workflow that is busy itself that is not so.
func IsUnavailable(err error) bool {
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	var exhausted *serviceerror.ResourceExhausted
	if errors.As(err, &exhausted) {
		return exhausted.Cause != enums.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW
	}
	return errors.As(err, &unavailable) || errors.As(err, &late) || errors.Is(err, context.Canceled) || db.IsUnavailable(err)
}

func isAlreadyStarted(err error) bool {
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	return errors.As(err, &already)
}

// isNotRunning reports whether a call failed because its workflow does not exist or has ended.
func isNotRunning(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

// subjectOf returns the id of the order that a workflow is about, from the workflow's id. It
// returns false for the reconcile workflow and for other ids.
func subjectOf(workflowID string) (uuid.UUID, bool) {
	for _, prefix := range []string{workflows.OrderWorkflowPrefix, workflows.SimulationWorkflowPrefix} {
		if subject, ok := strings.CutPrefix(workflowID, prefix); ok {
			id, err := uuid.Parse(subject)
			return id, err == nil && id.String() == subject
		}
	}
	return uuid.Nil, false
}

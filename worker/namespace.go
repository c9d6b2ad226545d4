package worker

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/recovered"
	"despacho/internal/temporalcheck"
	"despacho/workflows"
)

// prepareNamespace checks that Temporal is reachable and has the namespace, and creates the search
// attributes. Every worker does it at start-up; it is idempotent.
func prepareNamespace(ctx context.Context, options Options) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := temporalcheck.Namespace(ctx, options.Temporal, options.Namespace); err != nil {
		return err
	}
	err := registerSearchAttributes(ctx, options)
	var notReady *serviceerror.NamespaceNotFound
	if errors.As(err, &notReady) {
		return err // the namespace is new; the server reads its list every few seconds
	}
	if err != nil {
		// On Temporal Cloud and restricted clusters an administrator has to add them; with SQL
		// visibility a namespace has room for ten keywords.
		options.Log.Warn("search attributes not registered; orders start without them, and are not found by them, until an administrator adds them",
			"attributes", workflows.SearchAttributes(), "error", err)
	}
	return nil
}

func registerSearchAttributes(ctx context.Context, options Options) error {
	namespace := options.Namespace
	present, err := options.Temporal.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	missing := map[string]enums.IndexedValueType{}
	for name := range workflows.SearchAttributes() {
		if _, known := present.GetCustomAttributes()[name]; !known {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = options.Temporal.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	var already *serviceerror.AlreadyExists
	if errors.As(err, &already) {
		return nil // another worker added them first
	}
	return err
}

// scheduleReconcile creates the schedule of the reconcile workflow, or gives an existing one the
// definition of this release. Where it did not exist, Temporal is new or has lost its database: the
// open orders need their workflows again.
func scheduleReconcile(ctx context.Context, options Options) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	id := workflows.ReconcileScheduleID(options.TaskQueue)
	schedules := options.Temporal.ScheduleClient()
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: workflows.ReconcileEvery}}}
	action := &client.ScheduleWorkflowAction{
		ID: id, Workflow: workflows.ReconcileWorkflowName, TaskQueue: options.TaskQueue,
		Args:          []any{workflows.ReconcileInput{For: workflows.ReconcileFor}},
		StaticSummary: "start orders without a workflow, drive abandoned deliveries, clear what expired",
		// A hanging run must not block the next one.
		WorkflowExecutionTimeout: 2 * workflows.ReconcileEvery,
	}
	// A run that has much to do takes longer than the interval. The next one then follows at once: if
	// it were skipped, the orders that wait would wait for most of a minute more.
	policy := client.SchedulePolicies{Overlap: enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE, CatchupWindow: time.Minute}
	handle := schedules.GetHandle(ctx, id)
	missing, err := isMissing(ctx, handle)
	if err != nil {
		return err
	}
	if !missing {
		return handle.Update(ctx, client.ScheduleUpdateOptions{
			DoUpdate: func(existing client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
				schedule := existing.Description.Schedule // whether it is paused stays
				schedule.Spec, schedule.Action, schedule.Policy = &spec, action, &policy
				return &client.ScheduleUpdate{Schedule: &schedule}, nil
			},
		})
	}
	// First the orders: a worker that dies in between leaves the schedule missing for the next one.
	if err := options.Rebuild(ctx); err != nil {
		return err
	}
	_, err = schedules.Create(ctx, client.ScheduleOptions{
		ID: id, Spec: spec, Action: action, Overlap: policy.Overlap, CatchupWindow: policy.CatchupWindow,
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return nil // another worker was first
	}
	return err
}

func isMissing(ctx context.Context, handle client.ScheduleHandle) (bool, error) {
	_, err := handle.Describe(ctx)
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return true, nil
	}
	return false, err
}

// keepSchedule makes the reconcile schedule, and makes it again if Temporal loses it while the
// worker runs. The worker does not wait for it: moves do not need it.
func keepSchedule(ctx context.Context, options Options) {
	handle := options.Temporal.ScheduleClient().GetHandle(ctx, workflows.ReconcileScheduleID(options.TaskQueue))
	err := recovered.Call(ctx, options.Log, func() error { return scheduleReconcile(ctx, options) })
	for ctx.Err() == nil {
		wait := workflows.ReconcileEvery
		if err != nil {
			wait = scheduleRetry
			options.Log.Warn("the reconcile schedule is not there; trying again", "in", wait, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		missing := err != nil
		err = recovered.Call(ctx, options.Log, func() error {
			if !missing {
				// While Temporal does not answer, the schedule is looked for again in a minute.
				missing, _ = isMissing(ctx, handle)
			}
			if !missing {
				return nil
			}
			return scheduleReconcile(ctx, options)
		})
	}
}

// scheduleRetry is the time between attempts to make the schedule.
const scheduleRetry = 5 * time.Second

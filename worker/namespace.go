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

	"despacho/workflows"
)

// prepareNamespace checks that Temporal is reachable and creates the search attributes and the
// reconcile schedule. Every worker does it at start-up; it is idempotent.
func prepareNamespace(ctx context.Context, options Options) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if _, err := options.Temporal.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return err
	}
	if err := registerSearchAttributes(ctx, options); err != nil {
		// On Temporal Cloud and restricted clusters an administrator has to add them.
		options.Log.Warn("search attributes not registered; orders cannot start until an administrator adds them",
			"attributes", workflows.SearchAttributes(), "error", err)
	}
	return scheduleReconcile(ctx, options)
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

// scheduleReconcile creates the schedule of the reconcile workflow if it does not exist.
func scheduleReconcile(ctx context.Context, options Options) error {
	id := workflows.ReconcileScheduleID(options.TaskQueue)
	_, err := options.Temporal.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID:            id,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: workflows.ReconcileEvery}}},
		Overlap:       enums.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID: id, Workflow: workflows.ReconcileWorkflowName, TaskQueue: options.TaskQueue,
			StaticSummary: "start orders without a workflow, drive abandoned deliveries, clear what expired",
			// A hanging run must not block the next one.
			WorkflowExecutionTimeout: 5 * time.Minute,
		},
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return nil
	}
	return err
}

package worker

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/recovered"
	"despacho/workflows"
)

const (
	// scheduleTimeout bounds what Temporal is asked about the schedule.
	scheduleTimeout = 15 * time.Second
	// rebuildTimeout bounds a rebuild, which takes the longer the more orders are open. What it has
	// done when the time is over stays done.
	rebuildTimeout = 10 * time.Minute
)

// scheduleReconcile creates the schedule of the reconcile workflow, or gives an existing one the
// definition of this release. Where it did not exist, Temporal is new or has lost its database: the
// open orders need their workflows again.
func scheduleReconcile(ctx context.Context, options Options) error {
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
	// A run with much to do takes longer than the interval. The next run then follows at once: if it
	// were skipped, waiting orders would wait for most of another minute.
	policy := client.SchedulePolicies{Overlap: enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE, CatchupWindow: time.Minute}
	asking, cancel := context.WithTimeout(ctx, scheduleTimeout)
	defer cancel()
	handle := schedules.GetHandle(asking, id)
	missing, err := isMissing(asking, handle, options)
	if err != nil {
		return err
	}
	if !missing {
		return handle.Update(asking, client.ScheduleUpdateOptions{
			DoUpdate: func(existing client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
				schedule := existing.Description.Schedule // keeps the pause, if there is one
				schedule.Spec, schedule.Action, schedule.Policy = &spec, action, &policy
				return &client.ScheduleUpdate{Schedule: &schedule}, nil
			},
		})
	}
	// The orders come first: if this worker dies in between, the schedule is still missing, and the
	// next worker does both.
	rebuilding, cancel := context.WithTimeout(ctx, rebuildTimeout)
	defer cancel()
	if err := options.Rebuild(rebuilding); err != nil {
		return err
	}
	creating, cancel := context.WithTimeout(ctx, scheduleTimeout)
	defer cancel()
	_, err = schedules.Create(creating, client.ScheduleOptions{
		ID: id, Spec: spec, Action: action, Overlap: policy.Overlap, CatchupWindow: policy.CatchupWindow,
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return nil // another worker was first
	}
	return err
}

// isMissing reports whether the schedule is not there. It tells SchedulePaused of one that is
// there.
func isMissing(ctx context.Context, handle client.ScheduleHandle, options Options) (bool, error) {
	described, err := handle.Describe(ctx)
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return true, nil
	}
	if err == nil && options.SchedulePaused != nil {
		options.SchedulePaused(described.Schedule.State.Paused)
	}
	return false, err
}

// keepSchedule creates the reconcile schedule, and creates it again if Temporal loses it while the
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
				// If Temporal does not answer, the next check is in a minute.
				missing, _ = isMissing(ctx, handle, options)
			}
			if !missing {
				return nil
			}
			return scheduleReconcile(ctx, options)
		})
	}
}

// scheduleRetry is the time between attempts to create the schedule.
const scheduleRetry = 5 * time.Second

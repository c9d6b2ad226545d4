package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// ReconcileEvery is the interval of the reconcile schedule.
const ReconcileEvery = 15 * time.Second

// Reconcile starts missing order workflows, resumes abandoned deliveries and deletes expired rows.
// The parts run independently; what fails is retried by the next run.
func Reconcile(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	var parts []workflow.Future
	for _, name := range []string{StartMissingActivity, DriveDeliveriesActivity, ClearExpiredActivity} {
		parts = append(parts, workflow.ExecuteActivity(ctx, name))
	}
	var failed error
	for _, part := range parts {
		if err := part.Get(ctx, nil); err != nil {
			failed = err
		}
	}
	return failed
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// ReconcileEvery is how often what fell through is looked after.
const ReconcileEvery = 15 * time.Second

// Reconcile starts orders that have no workflow, hands on deliveries that nobody drives, and clears
// what has expired. One part's failure does not keep the others from running; the next turn tries
// again.
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

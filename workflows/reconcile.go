package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

const (
	// ReconcileEvery is the interval of the reconcile schedule.
	ReconcileEvery = time.Minute
	// ReconcileFor is how long a scheduled run goes on looking for work, with one activity: a run
	// every few seconds would cost several Temporal actions each.
	ReconcileFor = 50 * time.Second
	// reconcileTimeout lets the last pass of a run end.
	reconcileTimeout = ReconcileFor + 25*time.Second
)

// ReconcileInput starts the reconcile workflow.
type ReconcileInput struct {
	// For is how long the run goes on looking for work; zero makes one pass.
	For time.Duration `json:"for,omitempty"`
}

// Reconcile starts missing order workflows and deletes expired rows. What fails is retried by the
// next run.
func Reconcile(ctx workflow.Context, in ReconcileInput) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: reconcileTimeout,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return workflow.ExecuteActivity(ctx, ReconcileActivity, in.For).Get(ctx, nil)
}

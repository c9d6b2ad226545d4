package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// WebhookTimeout is how long the first attempt at a webhook call may take, with the time that its
// activity waits for a worker. It is longer than the exchange and storing the outcome take
// together.
const WebhookTimeout = 30 * time.Second

// callWebhooks begins the first attempt at each call, in an activity of its own that is not
// repeated. The queue of the workers makes every later attempt, and the first one if the activity
// did not.
func (o *order) callWebhooks(ctx workflow.Context, calls []WebhookCall) {
	o.calls = slices.DeleteFunc(o.calls, workflow.Future.IsReady)
	for _, call := range calls {
		ctx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue:              outQueue(ctx),
			ScheduleToCloseTimeout: WebhookTimeout,
			Summary:                Summary(string(call.Event) + " → " + call.Host),
			RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		o.calls = append(o.calls, workflow.ExecuteActivity(ctx, CallWebhookActivity, call.ID))
	}
}

// isCalling reports whether first attempts are under way.
func (o *order) isCalling() bool {
	return slices.ContainsFunc(o.calls, func(call workflow.Future) bool { return !call.IsReady() })
}

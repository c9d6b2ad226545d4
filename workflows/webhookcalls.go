package workflows

import (
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// WebhookTimeout is how long the first attempt at a webhook call may take, with the time that its
// activity waits for a worker. The exchange and storing the outcome take less.
const WebhookTimeout = 30 * time.Second

// callWebhooks begins the first attempt at each call, in an activity of its own that is not
// repeated. The queue makes every later attempt, and the first one if the activity did not.
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

// Summary returns a text that Temporal accepts as a summary for its UI, shortened if necessary.
// Temporal's limit is 400 bytes of JSON, and what it does not accept would fail a start or every
// workflow task of an order. JSON takes six bytes at most for a character.
func Summary(text string) string {
	text = strings.ToValidUTF8(text, "")
	size := len(`""`)
	for i, r := range text {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) {
			size += len(`\u0000`)
		} else {
			size++
		}
		if size > 400 {
			return text[:i]
		}
	}
	return text
}

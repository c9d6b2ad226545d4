package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// previousTimeout is how long an event waits for the one before it at a webhook with retries, whose
// own next attempt may be hours away.
const previousTimeout = 10 * time.Second

// scheduleWebhooks has every webhook of an event called, each by an activity of its own: a slow or
// dead receiver delays neither the order nor another receiver. One webhook gets an order's events
// one after the other, so that it does not hear of a delivery before the assignment.
func (o *order) scheduleWebhooks(ctx workflow.Context, deliveries []WebhookDeliveryRef) {
	for _, delivery := range deliveries {
		o.pendingCalls++
		before := o.lastCall[delivery.WebhookID]
		ended, end := workflow.NewFuture(ctx)
		workflow.Go(ctx, func(ctx workflow.Context) {
			awaitPrevious(ctx, before, delivery.Retry)
			end.SetError(send(ctx, delivery).Get(ctx, nil))
		})
		o.lastCall[delivery.WebhookID] = ended
		o.events.AddFuture(ended, func(workflow.Future) { o.pendingCalls-- })
	}
}

// awaitPrevious returns when the call before has ended; without retries that takes seconds, with
// retries it may not be waited for.
func awaitPrevious(ctx workflow.Context, before workflow.Future, retries bool) {
	switch {
	case before == nil || before.IsReady():
	case retries:
		_, _ = workflow.AwaitWithTimeout(ctx, previousTimeout, before.IsReady)
	default:
		_ = before.Get(ctx, nil)
	}
}

// Delivery sends one delivery that no order's workflow is sending: one that was abandoned, or that
// a person wants sent again.
func Delivery(ctx workflow.Context, delivery WebhookDeliveryRef) error {
	return send(ctx, delivery).Get(ctx, nil)
}

// Redelivery sends deliveries again because a person wants it, one after the other, in the order
// they happened. It fails if the last one did: with one delivery that is the outcome.
func Redelivery(ctx workflow.Context, deliveries []WebhookDeliveryRef) (failed error) {
	for _, delivery := range deliveries {
		failed = workflow.ExecuteActivity(webhookActivityOptions(ctx, delivery), ResendWebhookActivity, delivery.ID).Get(ctx, nil)
	}
	return failed
}

// send calls one webhook.
func send(ctx workflow.Context, delivery WebhookDeliveryRef) workflow.Future {
	return workflow.ExecuteActivity(webhookActivityOptions(ctx, delivery), SendWebhookActivity, delivery.ID)
}

// webhookTimeout is when a worker that has not said what came of a call is taken for dead. Waiting
// for a busy host, the exchange and writing down the outcome take less even at their worst.
const webhookTimeout = 30 * time.Second

// webhookActivityOptions is how a webhook is called. The activity itself decides what is tried
// again and when, because that depends on the webhook and on what its receiver said; the policy
// here is for trouble of our own, such as a database outage.
func webhookActivityOptions(ctx workflow.Context, delivery WebhookDeliveryRef) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: webhookTimeout,
		Summary:             fmt.Sprintf("%s → %s", delivery.Event, delivery.Host),
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
	})
}

// WebhookFailed ends a delivery that will not be tried again.
func WebhookFailed(reason string) error {
	return temporal.NewNonRetryableApplicationError(reason, webhookFailedErrorType, nil)
}

// RetryWebhook asks for another attempt after a delay.
func RetryWebhook(reason string, after time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(reason, webhookFailedErrorType, temporal.ApplicationErrorOptions{NextRetryDelay: after})
}

package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// patience is how long an event waits for the one before it at a webhook with retries, whose own next attempt may be hours away.
const patience = 10 * time.Second

// call has every webhook of an event called, each by an activity of its own: a slow or dead receiver delays neither the order nor
// another receiver. One webhook gets an order's events one after the other, so that it does not hear of a delivery
// before the assignment.
func (o *order) call(ctx workflow.Context, deliveries []DeliveryRef) {
	for _, delivery := range deliveries {
		o.calls++
		before := o.latestCall[delivery.WebhookID]
		ended, end := workflow.NewFuture(ctx)
		workflow.Go(ctx, func(ctx workflow.Context) {
			inTurn(ctx, before, delivery.Retry)
			end.SetError(send(ctx, delivery).Get(ctx, nil))
		})
		o.latestCall[delivery.WebhookID] = ended
		o.events.AddFuture(ended, func(workflow.Future) { o.calls-- })
	}
}

// inTurn returns when the call before has ended; without retries that takes seconds, with retries it may not be waited for.
func inTurn(ctx workflow.Context, before workflow.Future, retries bool) {
	switch {
	case before == nil || before.IsReady():
	case retries:
		_, _ = workflow.AwaitWithTimeout(ctx, patience, before.IsReady)
	default:
		_ = before.Get(ctx, nil)
	}
}

// Delivery sends one delivery that no order's workflow is sending: one that was abandoned, or that a person wants sent again.
func Delivery(ctx workflow.Context, delivery DeliveryRef) error {
	return send(ctx, delivery).Get(ctx, nil)
}

// Redelivery sends deliveries again because a person wants it, one after the other, in the order they happened. It fails if
// the last one did: with one delivery that is the outcome.
func Redelivery(ctx workflow.Context, deliveries []DeliveryRef) (failed error) {
	for _, delivery := range deliveries {
		failed = workflow.ExecuteActivity(webhookCall(ctx, delivery), ResendWebhookActivity, delivery.ID).Get(ctx, nil)
	}
	return failed
}

// send calls one webhook.
func send(ctx workflow.Context, delivery DeliveryRef) workflow.Future {
	return workflow.ExecuteActivity(webhookCall(ctx, delivery), SendWebhookActivity, delivery.ID)
}

// callTime is when a worker that has not said what came of a call is taken for dead. Waiting for a busy host, the exchange and writing down the
// outcome take less even at their worst.
const callTime = 30 * time.Second

// webhookCall is how a webhook is called. The activity itself decides what is tried again and when, because that depends on the
// webhook and on what its receiver said; the policy here is for trouble of our own, such as a database outage.
func webhookCall(ctx workflow.Context, delivery DeliveryRef) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: callTime,
		Summary:             fmt.Sprintf("%s → %s", delivery.Event, delivery.Host),
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
	})
}

// DeliveryFailed ends a delivery that will not be tried again.
func DeliveryFailed(reason string) error {
	return temporal.NewNonRetryableApplicationError(reason, webhookFailedErrorType, nil)
}

// DeliverAgain asks for another attempt after a delay.
func DeliverAgain(reason string, after time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(reason, webhookFailedErrorType, temporal.ApplicationErrorOptions{NextRetryDelay: after})
}

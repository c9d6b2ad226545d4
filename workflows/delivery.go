package workflows

import (
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// PreviousTimeout is how long an event waits for the previous one at a webhook with retries, whose
// next attempt may be hours away.
const PreviousTimeout = 10 * time.Second

// maxPendingCalls bounds the calls that a run makes at once. Temporal has a limit of 2,000 pending
// activities: it fails every workflow task that would schedule more, and with it the order's moves.
const maxPendingCalls = 500

// scheduleWebhooks starts an activity for each delivery, so that a slow receiver delays neither the
// order nor other receivers. One webhook gets an order's events in sequence. What exceeds
// maxPendingCalls waits in the database. Queued deliveries are not among them: the workers send
// those.
func (o *order) scheduleWebhooks(ctx workflow.Context, deliveries []WebhookDeliveryRef) {
	if o.superseded {
		return // the next run sends what is pending
	}
	if room := max(maxPendingCalls-len(o.calls), 0); len(deliveries) > room && o.has(ctx, changeBoundedCalls) {
		deliveries, o.moreDeliveries, o.boundedCalls = deliveries[:room], true, true
	}
	for _, delivery := range deliveries {
		o.scheduled[delivery.ID] = true
		before := o.lastCall[delivery.WebhookID]
		ended, end := workflow.NewFuture(ctx)
		callCtx, stop := workflow.WithCancel(ctx)
		call := &webhookCall{delivery: delivery, ended: ended, stop: stop}
		workflow.Go(callCtx, func(ctx workflow.Context) {
			o.awaitPrevious(ctx, before, call)
			end.SetError(send(ctx, delivery).Get(ctx, nil))
		})
		o.calls = append(o.calls, call)
		o.lastCall[delivery.WebhookID] = call
		o.events.AddFuture(ended, func(workflow.Future) {
			o.calls = slices.DeleteFunc(o.calls, func(other *webhookCall) bool { return other == call })
		})
	}
}

// webhookCall is a webhook call of a run.
type webhookCall struct {
	delivery WebhookDeliveryRef
	ended    workflow.Future
	stop     workflow.CancelFunc
}

// stopSettled stops the calls whose delivery is not pending any more. Somebody has redelivered it,
// while its next retry may be hours away: the run of an ended order would wait for that.
func (o *order) stopSettled(ctx workflow.Context, snapshot *Snapshot) {
	if snapshot.MoreDeliveries {
		return // others that are pending are not in the snapshot
	}
	for _, call := range o.calls {
		isPending := slices.ContainsFunc(snapshot.Deliveries, func(d WebhookDeliveryRef) bool { return d.ID == call.delivery.ID })
		if !isPending && !call.ended.IsReady() && o.has(ctx, changeStopSettled) {
			call.stop()
		}
	}
}

// scheduleMove schedules the deliveries of a move. While earlier ones wait in the database, these
// wait there too: one webhook gets an order's events in sequence.
func (o *order) scheduleMove(ctx workflow.Context, result ApplyMoveResult) {
	if !o.boundedCalls || !o.moreDeliveries {
		o.scheduleWebhooks(ctx, result.Deliveries)
	}
	o.moreDeliveries = o.moreDeliveries || result.MoreDeliveries
}

// isRoomForMore reports whether deliveries wait in the database and can be sent. A run that should
// continue as a new one leaves them to that one.
func (o *order) isRoomForMore(ctx workflow.Context) bool {
	if !o.boundedCalls {
		return o.moreDeliveries && len(o.calls) == 0
	}
	return o.moreDeliveries && len(o.calls) <= maxPendingCalls/2 && !workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// unscheduled returns the deliveries that this run is not sending yet.
func (o *order) unscheduled(deliveries []WebhookDeliveryRef) (missed []WebhookDeliveryRef) {
	for _, delivery := range deliveries {
		if !o.scheduled[delivery.ID] {
			missed = append(missed, delivery)
		}
	}
	return missed
}

// awaitPrevious waits for the previous call to the same webhook. Without retries that takes
// seconds; with retries, also with those that the webhook had when it was scheduled, the wait is
// bounded by PreviousTimeout.
func (o *order) awaitPrevious(ctx workflow.Context, before, call *webhookCall) {
	switch {
	case before == nil || before.ended.IsReady():
	case call.delivery.Retry || before.delivery.Retry && o.has(ctx, changeRetriesOff):
		_, _ = workflow.AwaitWithTimeout(ctx, PreviousTimeout, before.ended.IsReady)
	default:
		_ = before.ended.Get(ctx, nil)
	}
}

// Delivery sends a delivery that no order's workflow is sending, because it was abandoned.
func Delivery(ctx workflow.Context, delivery WebhookDeliveryRef) error {
	return send(ctx, delivery).Get(ctx, nil)
}

// changeRedeliveryOutcome is the change since which a receiver's refusal is not the failure of the
// workflow.
const changeRedeliveryOutcome = "redelivery-outcome"

// Redelivery resends deliveries on request, in sequence. The outcome of each is in its row: a
// receiver that refuses one does not fail the workflow, which has done what it was asked for. It
// returns the error of the last one if it could not be sent.
func Redelivery(ctx workflow.Context, deliveries []WebhookDeliveryRef) (failed error) {
	for _, delivery := range deliveries {
		failed = workflow.ExecuteActivity(webhookActivityOptions(ctx, delivery), ResendWebhookActivity, delivery.ID).Get(ctx, nil)
	}
	var refused *temporal.ApplicationError
	if errors.As(failed, &refused) && refused.Type() == webhookFailedErrorType &&
		workflow.GetVersion(ctx, changeRedeliveryOutcome, workflow.DefaultVersion, 1) == 1 {
		return nil
	}
	return failed
}

// send starts the activity that calls one webhook.
func send(ctx workflow.Context, delivery WebhookDeliveryRef) workflow.Future {
	return workflow.ExecuteActivity(webhookActivityOptions(ctx, delivery), SendWebhookActivity, delivery.ID)
}

// webhookTimeout is longer than the exchange and storing the outcome can take together.
const webhookTimeout = 30 * time.Second

// webhookActivityOptions returns the options of a webhook call. The activity itself sets the retry
// delay, which depends on the webhook and the response; the policy here is for internal errors such
// as a database outage.
func webhookActivityOptions(ctx workflow.Context, delivery WebhookDeliveryRef) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: webhookTimeout,
		Summary:             delivery.Summary(),
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
	})
}

// SendOutcome is how sending a delivery ended without an error, for whoever reads the history.
type SendOutcome string

// The outcomes: delivered, queued in the database until its webhook can take it, or settled before.
const (
	SendDelivered SendOutcome = "delivered"
	SendQueued    SendOutcome = "queued"
	SendSettled   SendOutcome = "settled before"
)

// WebhookFailed is the non-retryable error of a failed delivery.
func WebhookFailed(reason string) error {
	return webhookError(reason, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// RetryWebhook is the error that makes Temporal retry after a delay.
func RetryWebhook(reason string, after time.Duration) error {
	return webhookError(reason, temporal.ApplicationErrorOptions{NextRetryDelay: after})
}

// webhookError is benign: a receiver that fails is nothing that whoever runs the service can
// repair, so that the SDK neither logs it as an error nor counts it as a failed activity.
func webhookError(reason string, options temporal.ApplicationErrorOptions) error {
	options.Category = temporal.ApplicationErrorCategoryBenign
	return temporal.NewApplicationErrorWithOptions(reason, webhookFailedErrorType, options)
}

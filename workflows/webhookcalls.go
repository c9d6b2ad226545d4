package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"
)

// PreviousTimeout is how long an event waits for the previous one at a webhook with retries, whose
// next attempt may be hours away.
const PreviousTimeout = 10 * time.Second

// maxPendingCalls bounds the calls that a run makes at once. Temporal has a limit of 2,000 pending
// activities: it fails every workflow task that would schedule more, and with it the order's moves.
const maxPendingCalls = 500

// scheduleWebhooks starts an activity for each delivery, so that a slow receiver delays neither the
// order nor other receivers. One webhook gets an order's events in sequence. Deliveries beyond
// maxPendingCalls wait in the database. The deliveries never include queued ones, which the workers
// send.
func (o *order) scheduleWebhooks(ctx workflow.Context, deliveries []WebhookDeliveryRef) {
	if o.superseded {
		return // the next run sends what is pending
	}
	if room := max(maxPendingCalls-len(o.calls), 0); len(deliveries) > room && hasChange(ctx, changeBoundedCalls) {
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

// stopSettled stops the calls whose delivery is not pending any more, because somebody redelivered
// it. Otherwise the run of an ended order would wait for the next retry, which may be hours away.
func (o *order) stopSettled(ctx workflow.Context, snapshot *Snapshot) {
	if snapshot.MoreDeliveries {
		return // others that are pending are not in the snapshot
	}
	for _, call := range o.calls {
		isPending := slices.ContainsFunc(snapshot.Deliveries, func(d WebhookDeliveryRef) bool { return d.ID == call.delivery.ID })
		if !isPending && !call.ended.IsReady() && hasChange(ctx, changeStopSettled) {
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

// canLoadMore reports whether deliveries wait in the database and can be sent. A run that should
// continue as new leaves them to the next run.
func (o *order) canLoadMore(ctx workflow.Context) bool {
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
// seconds. If either call was scheduled with retries, the wait is bounded by PreviousTimeout.
func (o *order) awaitPrevious(ctx workflow.Context, before, call *webhookCall) {
	switch {
	case before == nil || before.ended.IsReady():
	case call.delivery.Retry || before.delivery.Retry && hasChange(ctx, changeRetriesOff):
		_, _ = workflow.AwaitWithTimeout(ctx, PreviousTimeout, before.ended.IsReady)
	default:
		_ = before.ended.Get(ctx, nil)
	}
}

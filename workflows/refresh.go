package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// registerRefresh registers refresh as an update. A caller that was refused by a run that is behind
// the row refreshes the run and asks again.
func (o *order) registerRefresh(ctx workflow.Context) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, RefreshName,
		func(ctx workflow.Context) error {
			return o.inTurn(ctx, func(ctx workflow.Context) error {
				err := o.refresh(ctx)
				o.logRefresh(ctx, err)
				return err
			})
		},
		workflow.UpdateHandlerOptions{Description: "Reloads the order from the database."})
}

func (o *order) load(ctx workflow.Context) (*Snapshot, error) {
	var snapshot Snapshot
	err := runDBActivity(ctx, dbCall{summary: "read the order", activity: LoadOrderActivity}, o.id, &snapshot)
	return &snapshot, err
}

// refresh reloads the order: its state, if it was moved outside this run, and its pending webhook
// deliveries.
func (o *order) refresh(ctx workflow.Context) error {
	snapshot, err := o.load(ctx)
	if err != nil {
		if hasType(err, orderMissingErrorType) {
			o.missing = err
		}
		return err
	}
	o.refreshedAt = workflow.Now(ctx)
	o.restoreMoved(ctx, snapshot)
	return nil
}

// freshFor is how long after a read the row is not read again.
const freshFor = time.Second

// isFresh reports whether the row has just been read.
func (o *order) isFresh(ctx workflow.Context) bool {
	return !o.refreshedAt.IsZero() && workflow.Now(ctx).Sub(o.refreshedAt) < freshFor && hasChange(ctx, changeFewerReads)
}

// dropRepeated takes the refresh signals that have arrived since the first: one read serves them
// all.
func (o *order) dropRepeated(ctx workflow.Context, c workflow.ReceiveChannel) {
	if c.Len() == 0 || !hasChange(ctx, changeFewerReads) {
		return
	}
	for c.ReceiveAsync(nil) {
	}
}

func (o *order) logRefresh(ctx workflow.Context, err error) {
	if err != nil {
		workflow.GetLogger(ctx).Error("order not refreshed", "order_id", o.id, "error", err)
	}
}

// loadMoreDeliveries reads and sends the next pending deliveries. If it finds no new ones, the
// reconcile workflow sends the rest.
func (o *order) loadMoreDeliveries(ctx workflow.Context) {
	before := len(o.scheduled)
	err := o.refresh(ctx)
	o.logRefresh(ctx, err)
	if err != nil || len(o.scheduled) == before {
		o.moreDeliveries = false
	}
}

// restoreMoved takes over the state of an order that was moved outside this run, stops the calls of
// deliveries that were settled outside it, and sends those that this run is not sending yet: the
// events of moves that it missed come before those of its own next move.
//
// A row that differs from this run and is not ahead of it is from an older copy of the database,
// which does not have what this run has done since. The run ends and another starts from the row:
// it has the row's timer and deliveries, and not the updates that this run has completed, whose
// outcome Temporal would return for a repeated request.
func (o *order) restoreMoved(ctx workflow.Context, snapshot *Snapshot) {
	isOlder := (snapshot.Seq < o.seq || snapshot.Seq == o.seq && !o.state.Equal(snapshot.state())) && hasChange(ctx, changeRowWins)
	if isOlder {
		workflow.GetLogger(ctx).Warn("the order's row is older than its workflow: a new run starts from the row", "order_id", o.id, "row", snapshot.Status, "workflow", o.state.Status)
		o.superseded = true
	}
	if snapshot.Seq != o.seq || isOlder {
		o.restore(snapshot)
		if o.state.Status != models.StatusRegistered {
			o.cancelTimer()
		}
		o.describe(ctx)
	}
	o.moreDeliveries = snapshot.MoreDeliveries
	o.stopSettled(ctx, snapshot)
	if missed := o.unscheduled(snapshot.Deliveries); len(missed) > 0 && hasChange(ctx, changeRestoreDeliveries) {
		o.scheduleWebhooks(ctx, missed)
	}
}

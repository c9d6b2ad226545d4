package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

func (o *order) load(ctx workflow.Context) (*Snapshot, error) {
	var snapshot Snapshot
	return &snapshot, runDBActivity(ctx, "read the order", LoadOrderActivity, nil, o.id, &snapshot)
}

// refresh takes over the state of an order that was moved outside this run: a lost workflow task
// leaves the run behind its row. The webhook calls of the moves that it missed are the queue's.
func (o *order) refresh(ctx workflow.Context) error {
	snapshot, err := o.load(ctx)
	if err != nil {
		workflow.GetLogger(ctx).Error("order not refreshed", "order_id", o.id, "error", err)
		if hasType(err, orderMissingErrorType) {
			o.missing = err
		}
		return err
	}
	o.refreshedAt = workflow.Now(ctx)
	if snapshot.Seq != o.seq {
		o.restore(ctx, snapshot)
	}
	return nil
}

// dropRepeatedRefreshes takes the refresh signals that have arrived since the first: one read
// serves them all.
func (o *order) dropRepeatedRefreshes(ctx workflow.Context) {
	for c := workflow.GetSignalChannel(ctx, RefreshName); c.ReceiveAsync(nil); {
	}
	o.inbox.arrived = slices.DeleteFunc(o.inbox.arrived, func(a arrival) bool { return a.signal == RefreshName })
}

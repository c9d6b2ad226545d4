package chaos

import (
	"context"
	"time"

	"go.temporal.io/api/enums/v1"

	"despacho/models"
	"despacho/test/lab/cluster"
)

const (
	// moveTimeout bounds how long a move may be answered with an error that passes.
	moveTimeout = 2 * time.Minute
	// agreeTimeout bounds how long a restored copy may take until Temporal and the rows agree: the
	// reconcile workflow runs every minute.
	agreeTimeout = 5 * time.Minute
	// resumeTimeout bounds how long events that waited for the end of a pause may take.
	resumeTimeout = 5 * time.Minute
	checkEvery    = time.Second
)

// check starts the restored copy with webhooks paused, checks it, and starts it again without the
// pause.
func (d *drill) check(ctx context.Context, restored *installation) error {
	d.stack = restored.stack
	called := d.receivers.total()
	if err := restored.serve(ctx, map[string]string{"WEBHOOKS_PAUSED": "true"}); err != nil {
		return err
	}
	client := d.newClient(stream(d.options.Seed, planStream))
	defer client.close()
	state, err := d.readState(ctx)
	if err != nil {
		return err
	}
	d.options.logf("the copy has %d orders", len(state.orders))
	c := &checker{stack: d.stack, dbState: state, tally: map[string]int{}}
	d.checkRestored(state)
	for i, tracked := range d.acknowledgedBefore(d.copiedUntil()) {
		if i%5 == 0 {
			client.repeat(ctx, tracked)
		}
	}
	for _, check := range []func(context.Context, *checker) error{checkTimelines, checkPhotos} {
		if err := check(ctx, c); err != nil {
			return err
		}
	}
	// Half of the moves are made at once, the others when reconcile has started the workflows.
	moved := map[string]int{}
	if err := d.makeNextMoves(ctx, client, state, moved, 2); err != nil {
		return err
	}
	if err := d.awaitAgreement(ctx); err != nil {
		return err
	}
	if err := d.makeNextMoves(ctx, client, state, moved, 1); err != nil {
		return err
	}
	d.report.checked(invariantPaused, len(moved))
	if now := d.receivers.total(); now != called {
		d.report.violate(invariantPaused, d.name, "%d requests came", now-called)
	}
	if err := restored.stop(ctx); err != nil {
		return err
	}
	if err := restored.serve(ctx, nil); err != nil {
		return err
	}
	return d.checkResumed(ctx, moved)
}

// checkRestored holds the copy against what clients were told.
func (d *drill) checkRestored(copied *dbState) {
	until := d.copiedUntil()
	for _, tracked := range d.acknowledgedBefore(until) {
		d.report.checked(invariantRestored, 1)
		if copied.byID[tracked.id] == nil {
			d.report.violate(invariantRestored, tracked.id,
				"%s: it was acknowledged %s before the copy and is not in it", d.name, until.Sub(tracked.acknowledgedAt))
			continue
		}
		made := countRequested(copied.timelines[tracked.id])
		for move, count := range tracked.movesBefore(until) {
			if made[move] < count {
				d.report.violate(invariantRestored, tracked.id,
					"%s: %s was acknowledged %d times before the copy, which has %d", d.name, move, count, made[move])
			}
		}
	}
	for _, tracked := range d.ledger.acknowledged() {
		if !d.endsAt.IsZero() && tracked.requestedAt.After(d.endsAt) {
			d.report.checked(invariantTarget, 1)
			if copied.byID[tracked.id] != nil {
				d.report.violate(invariantTarget, tracked.id,
					"it was requested %s after the point in time", tracked.requestedAt.Sub(d.endsAt))
			}
		}
	}
}

// nextMoves are the moves that bring an open order on.
var nextMoves = map[models.Status]models.Move{
	models.StatusRegistered: models.MoveReceive, models.StatusReceived: models.MoveAssign, models.StatusAssigned: models.MoveDeliver,
}

// nextMove is the move that brings an order on, if it is open.
func (o *orderRow) nextMove() (move models.Move, open bool) {
	if o.Status == models.StatusReceived && o.state().Substatus == models.SubstatusReturning {
		return models.MoveHandBack, true
	}
	move, open = nextMoves[o.Status]
	return move, open
}

// makeNextMoves makes the next legal move of one in so many of the open orders that were not moved
// yet, and notes the move's number. Nothing that was under way when the copy was made goes on.
func (d *drill) makeNextMoves(ctx context.Context, c *client, copied *dbState, moved map[string]int, oneIn int) error {
	n := 0
	for _, row := range copied.orders {
		move, open := row.nextMove()
		if _, done := moved[row.ID]; done || !open {
			continue
		}
		if n++; n%oneIn != 0 {
			continue
		}
		d.report.checked(invariantNextMove, 1)
		tracked := &trackedOrder{id: row.ID, cash: row.Cash, done: countRequested(copied.timelines[row.ID]), unknown: map[models.Move]int{}}
		limited, cancel := context.WithTimeout(ctx, d.options.scaledTimeout(moveTimeout))
		made, err := c.move(limited, tracked, move, models.ByOperator)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !made {
			d.report.violate(invariantNextMove, row.ID, "%s: it is %s, and %s was not made: %v", d.name, row.Status, move, err)
		}
		moved[row.ID] = row.Seq + 1
	}
	return nil
}

// awaitAgreement returns when every running workflow belongs to an open order with the same status
// and every open order has one; what does not come to agree in time is reported.
func (d *drill) awaitAgreement(ctx context.Context) error {
	began := time.Now()
	for {
		state, err := d.readState(ctx)
		if err != nil {
			return err
		}
		c := &checker{stack: d.stack, dbState: state}
		disagreeing, err := c.disagreeing(ctx)
		if err != nil {
			return err
		}
		took := time.Since(began).Round(time.Second)
		if len(disagreeing) == 0 || took > d.options.scaledTimeout(agreeTimeout) {
			d.options.logf("after %s %d orders disagree with their workflow", took, len(disagreeing))
			d.report.checked(invariantAgreement, len(state.orders))
			for id, what := range disagreeing {
				d.report.violate(invariantAgreement, id, "%s: %s", d.name, what)
			}
			return nil
		}
		if err := cluster.Sleep(ctx, 5*checkEvery); err != nil {
			return err
		}
	}
}

// disagreeing says of orders how they differ from their workflows, of which all but the running
// ones have ended for good.
func (c *checker) disagreeing(ctx context.Context) (map[string]string, error) {
	runs, err := c.listRuns(ctx)
	if err != nil {
		return nil, err
	}
	running, disagreeing := map[string]bool{}, map[string]string{}
	for id, list := range runs {
		for _, r := range list {
			running[id] = running[id] || r.status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
		}
		if running[id] && c.byID[id] == nil {
			disagreeing[id] = "its workflow runs, and it has no row"
		}
	}
	for _, row := range c.orders {
		_, open := row.nextMove()
		switch {
		case open && !running[row.ID]:
			disagreeing[row.ID] = "it is " + string(row.Status) + " and has no running workflow"
		case running[row.ID]:
			details, err := c.detailsOf(ctx, row.ID)
			if err != nil {
				disagreeing[row.ID] = "its workflow cannot be asked: " + err.Error()
			} else if !row.agrees(details) {
				disagreeing[row.ID] = "the row says " + string(row.Status) + ", the workflow " + details
			}
		}
	}
	return disagreeing, nil
}

// checkResumed returns when nothing waits any more, and looks whether the events of the moves that
// were made during the pause have arrived, at both webhooks.
func (d *drill) checkResumed(ctx context.Context, moved map[string]int) error {
	began, waiting := time.Now(), -1
	for {
		outstanding, _, err := d.outstanding(ctx)
		if err != nil {
			return err
		}
		pending := outstanding.Pending + outstanding.Waiting
		if waiting < 0 {
			waiting = pending
		}
		if pending == 0 {
			d.options.logf("%d events waited for the end of the pause and were sent within %s of it",
				waiting, time.Since(began).Round(time.Second))
			break
		}
		if time.Since(began) > d.options.scaledTimeout(resumeTimeout) {
			d.report.violate(invariantResumed, d.name,
				"%d events are still pending after %s", pending, time.Since(began).Round(time.Second))
			break
		}
		if err := cluster.Sleep(ctx, checkEvery); err != nil {
			return err
		}
	}
	state, err := d.readState(ctx)
	if err != nil {
		return err
	}
	for id, seq := range moved {
		for _, delivery := range state.deliveries[id] {
			if delivery.OrderSeq != seq {
				continue
			}
			d.report.checked(invariantResumed, 1)
			if d.receivers.count(delivery.hook(), delivery.ID) == 0 {
				d.report.violate(invariantResumed, id, "%s: %s is %s and never came", d.name, delivery.Event, delivery.Status)
			}
		}
	}
	return nil
}

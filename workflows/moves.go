package workflows

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// request is a move somebody asks for. Exactly one of the messages is set, except for the timer's.
type request struct {
	move      models.Move
	by        models.Actor
	cancel    *Cancel
	received  *Received
	assigned  *Assigned
	delivered *Delivered

	// answer is set for an update, which waits for it.
	answer workflow.Settable
}

func (r request) rider() *uuid.UUID {
	if r.assigned == nil {
		return nil
	}
	return &r.assigned.RiderID
}

// registerHandlers takes moves from updates and signals alike. Updates answer with the outcome;
// signals, which people send by hand, count as the operator's.
func (o *order) registerHandlers(ctx workflow.Context) error {
	o.events.AddReceive(o.requests, func(c workflow.ReceiveChannel, _ bool) {
		var r request
		c.Receive(ctx, &r)
		r.answer.SetError(o.handleMove(ctx, r))
	})
	o.events.AddReceive(workflow.GetSignalChannel(ctx, RefreshName), func(c workflow.ReceiveChannel, _ bool) {
		if c.ReceiveAsync(nil) {
			o.refresh(ctx)
		}
	})
	if err := registerHandler(ctx, o, CancelName, func(m Cancel) request {
		by := m.By
		if by == "" {
			by = models.ByOperator
		}
		return request{move: models.MoveCancel, by: by, cancel: &m}
	}); err != nil {
		return err
	}
	if err := registerHandler(ctx, o, ReceivedName, func(m Received) request {
		return request{move: models.MoveReceive, by: models.ByOperator, received: &m}
	}); err != nil {
		return err
	}
	if err := registerHandler(ctx, o, AssignedName, func(m Assigned) request {
		return request{move: models.MoveAssign, by: models.ByOperator, assigned: &m}
	}); err != nil {
		return err
	}
	return registerHandler(ctx, o, DeliveredName, func(m Delivered) request {
		return request{move: models.MoveDeliver, by: models.ByOperator, delivered: &m}
	})
}

// registerHandler registers a name as a signal and as an update whose validator refuses illegal
// moves before they enter history.
func registerHandler[M any](ctx workflow.Context, o *order, name string, ask func(M) request) error {
	o.events.AddReceive(workflow.GetSignalChannel(ctx, name), func(c workflow.ReceiveChannel, _ bool) {
		var message M
		if !c.ReceiveAsync(&message) {
			return // it could not be read; Receive would hold the order until the next signal of this name
		}
		r := ask(message)
		r.by = models.ByOperator
		if err := o.handleMove(ctx, r); err != nil {
			workflow.GetLogger(ctx).Warn("signal refused", "signal", name, "status", o.state.Status, "reason", err.Error())
		}
	})
	return workflow.SetUpdateHandlerWithOptions(ctx, name,
		func(ctx workflow.Context, message M) error {
			r := ask(message)
			var outcome workflow.Future
			outcome, r.answer = workflow.NewFuture(ctx)
			o.requests.Send(ctx, r)
			return outcome.Get(ctx, nil)
		},
		workflow.UpdateHandlerOptions{
			Validator: func(message M) error {
				if !o.loaded {
					return nil // decided once the order is known
				}
				r := ask(message)
				if _, verdict := o.validate(r); verdict == models.Refused {
					return Refusal{Move: r.move, Status: o.state.Status}.err()
				}
				return nil
			},
			Description: "Moves the order; answers once the move is stored.",
		})
}

// validate holds a move against the transition table.
func (o *order) validate(r request) (models.Status, models.Verdict) {
	if r.cancel != nil && r.cancel.OnlyRegistered && o.state.Status != models.StatusRegistered {
		return o.state.Status, models.Refused
	}
	return o.state.Decide(r.move, r.by, r.rider())
}

// handleMove judges a move and, if it is legal, has it written before anybody is told.
func (o *order) handleMove(ctx workflow.Context, r request) error {
	for {
		to, verdict := o.validate(r)
		switch verdict {
		case models.Refused:
			return Refusal{Move: r.move, Status: o.state.Status}.err()
		case models.Unchanged:
			return nil
		}
		result, err := o.apply(ctx, r, to)
		if err != nil {
			return err
		}
		if result.Refused != "" {
			return Refusal{Move: r.move, Status: o.state.Status, Reason: result.Refused}.err()
		}
		if result.Current != nil {
			// The order was moved behind this run's back, by another run or by its own before a
			// crash; decide again on what is true.
			o.restore(result.Current)
			o.describe(ctx)
			continue
		}
		o.recordMove(ctx, r, to)
		o.scheduleWebhooks(ctx, result.Deliveries)
		return nil
	}
}

// moved takes over the outcome of a written move.
func (o *order) recordMove(ctx workflow.Context, r request, to models.Status) {
	o.seq++
	o.state.Status = to
	o.state.CancelledBy = ""
	if to == models.StatusCancelled {
		o.state.CancelledBy = r.by
	}
	if rider := r.rider(); rider != nil {
		o.state.RiderID = rider
	}
	o.cancelTimer()
	o.describe(ctx)
}

// stopWaiting ends the timer of an order that has moved.
func (o *order) cancelTimer() {
	if o.stopTimer != nil {
		o.stopTimer()
		o.stopTimer = nil
	}
}

func (o *order) apply(ctx workflow.Context, r request, to models.Status) (ApplyMoveResult, error) {
	move := ApplyMoveInput{
		OrderID: o.id, Seq: o.seq + 1, Move: r.move, By: r.by, To: to,
		Cancel: r.cancel, Received: r.received, Assigned: r.assigned, Delivered: r.delivered,
	}
	move.EntryID, move.At = entryID(ctx, move), workflow.Now(ctx).UTC().Truncate(time.Microsecond)
	var result ApplyMoveResult
	err := workflow.ExecuteLocalActivity(dbActivityOptions(ctx, string(r.move)), ApplyMoveActivity, move).Get(ctx, &result)
	return result, err
}

func (o *order) load(ctx workflow.Context) (*Snapshot, error) {
	var snapshot Snapshot
	err := workflow.ExecuteLocalActivity(dbActivityOptions(ctx, "read the order"), LoadOrderActivity, o.id).Get(ctx, &snapshot)
	return &snapshot, err
}

// longestOutage is said because the SDK would otherwise give a local activity up once
// StartToCloseTimeout has passed, all tries together.
const retryForever = 100 * 365 * 24 * time.Hour

// dbActivityOptions is for the database: a local activity, which costs the history one event, tried
// again for as long as an outage lasts.
func dbActivityOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    10 * time.Second,
		ScheduleToCloseTimeout: retryForever,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second,
		},
	})
}

// entryID names the timeline entry of a move: the same whenever this run tries the same move again,
// different for every other move and in every other run. A run that lost a move to a crash, after
// it was written and before it entered the history, must not take it for another that it tries
// then.
func entryID(ctx workflow.Context, move ApplyMoveInput) uuid.UUID {
	run := workflow.GetInfo(ctx).WorkflowExecution.RunID
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fmt.Sprintf("%s %d %s %s %s", run, move.Seq, move.Move, move.By, move.fingerprint())))
}

// fingerprint is what tells a move from others of its kind.
func (m *ApplyMoveInput) fingerprint() string {
	switch {
	case m.Cancel != nil:
		return fmt.Sprintf("%q %q", m.Cancel.Reason, m.Cancel.Note)
	case m.Received != nil && m.Received.BranchID != nil:
		return m.Received.BranchID.String()
	case m.Assigned != nil:
		return m.Assigned.RiderID.String()
	case m.Delivered != nil && m.Delivered.ActualAmountCollected != nil:
		return fmt.Sprintf("%s %d", m.Delivered.Photo, *m.Delivered.ActualAmountCollected)
	case m.Delivered != nil:
		return m.Delivered.Photo
	}
	return ""
}

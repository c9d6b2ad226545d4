package workflows

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// request is a requested move. Exactly one of the messages is set, except for the timer's.
type request struct {
	move      models.Move
	by        models.Actor
	cancel    *Cancel
	received  *Received
	assigned  *Assigned
	delivered *Delivered

	// answer and updateID are set for an update, which waits for the answer.
	answer   workflow.Settable
	updateID string
}

func (r request) rider() *uuid.UUID {
	if r.assigned == nil {
		return nil
	}
	return &r.assigned.RiderID
}

// registerHandlers registers updates and signals for every move. Updates return the outcome;
// signals, which people send from the Temporal UI, count as the operator's.
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

// registerHandler registers a name as a signal and as an update. The update's validator refuses
// illegal moves before they enter the history.
func registerHandler[M any](ctx workflow.Context, o *order, name string, toRequest func(M) request) error {
	o.events.AddReceive(workflow.GetSignalChannel(ctx, name), func(c workflow.ReceiveChannel, _ bool) {
		var message M
		if !c.ReceiveAsync(&message) {
			return // malformed; Receive would block until the next signal of this name
		}
		r := toRequest(message)
		r.by = models.ByOperator
		if err := o.handleMove(ctx, r); err != nil {
			workflow.GetLogger(ctx).Warn("signal refused", "signal", name, "status", o.state.Status, "reason", err.Error())
		}
	})
	return workflow.SetUpdateHandlerWithOptions(ctx, name,
		func(ctx workflow.Context, message M) error {
			r := toRequest(message)
			var outcome workflow.Future
			outcome, r.answer = workflow.NewFuture(ctx)
			r.updateID = workflow.GetCurrentUpdateInfo(ctx).ID
			o.requests.Send(ctx, r)
			return outcome.Get(ctx, nil)
		},
		workflow.UpdateHandlerOptions{
			Validator: func(message M) error {
				if !o.loaded {
					return nil // decided once the order is loaded
				}
				r := toRequest(message)
				if _, verdict := o.validate(r); verdict == models.Refused {
					return Refusal{Move: r.move, Status: o.state.Status}.err()
				}
				return nil
			},
			Description: "Moves the order; answers once the move is stored.",
		})
}

// validate checks a move against the transition table.
func (o *order) validate(r request) (models.Status, models.Verdict) {
	if r.cancel != nil && r.cancel.OnlyRegistered && o.state.Status != models.StatusRegistered {
		return o.state.Status, models.Refused
	}
	return o.state.Decide(r.move, r.by, r.rider())
}

// handleMove validates a move and writes it to the database before the outcome is reported.
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
			// The order was moved by another run, or by this one before a crash. Restore the actual
			// state and decide again.
			o.restore(result.Current)
			o.describe(ctx)
			continue
		}
		o.recordMove(ctx, r, to)
		o.scheduleWebhooks(ctx, result.Deliveries)
		return nil
	}
}

// recordMove updates the run's state after a written move.
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

// cancelTimer stops the auto-cancel timer.
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
	move.EntryID, move.At = entryID(ctx, r, move), workflow.Now(ctx).UTC().Truncate(time.Microsecond)
	var result ApplyMoveResult
	err := workflow.ExecuteLocalActivity(dbActivityOptions(ctx, string(r.move)), ApplyMoveActivity, move).Get(ctx, &result)
	return result, err
}

func (o *order) load(ctx workflow.Context) (*Snapshot, error) {
	var snapshot Snapshot
	err := workflow.ExecuteLocalActivity(dbActivityOptions(ctx, "read the order"), LoadOrderActivity, o.id).Get(ctx, &snapshot)
	return &snapshot, err
}

// retryForever is set because without a ScheduleToCloseTimeout the SDK stops retrying a local
// activity once StartToCloseTimeout has passed.
const retryForever = 100 * 365 * 24 * time.Hour

// dbActivityOptions returns the options of database access: a local activity, which adds one event
// to the history, retried until the database is available.
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

// EntryID is the id of the timeline entry of a move that was requested by an update. The requester
// finds its move by it when the update's answer was lost.
func EntryID(updateID string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("update "+updateID))
}

// entryID derives the id of a move's timeline entry: from the update, or from the run and the move.
// A retry of the same move gets the same id; any other gets a different one. So a move that was
// written before a crash but never entered the history is not mistaken for the next attempt.
func entryID(ctx workflow.Context, r request, move ApplyMoveInput) uuid.UUID {
	if r.updateID != "" {
		return EntryID(r.updateID)
	}
	run := workflow.GetInfo(ctx).WorkflowExecution.RunID
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fmt.Sprintf("%s %d %s %s %s", run, move.Seq, move.Move, move.By, move.fingerprint())))
}

// fingerprint distinguishes moves of the same kind by their content.
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

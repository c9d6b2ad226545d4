package workflows

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// request is a requested move.
type request struct {
	move models.Move
	by   models.Actor
	// message is nil for the timer's auto-cancel.
	message Message

	// answer and updateID are set for an update, which waits for the answer.
	answer   workflow.Settable
	updateID string
}

func (r request) rider() *uuid.UUID {
	if r.message == nil {
		return nil
	}
	return r.message.Rider()
}

// deadline is the time after which the move must not be made; nil if there is none.
func (r request) deadline() *time.Time {
	if r.message == nil {
		return nil
	}
	return r.message.expiresAt()
}

// isSignal reports whether a person sent the request from outside the service, and nobody waits for
// the answer.
func (r request) isSignal() bool { return r.message != nil && r.answer == nil }

// registerHandlers registers updates and signals for every move. Updates return the outcome;
// signals, which people send from the Temporal UI, count as the operator's.
func (o *order) registerHandlers(ctx workflow.Context) error {
	o.events.AddReceive(o.requests, func(c workflow.ReceiveChannel, _ bool) {
		var handle func(workflow.Context)
		c.Receive(ctx, &handle)
		handle(ctx)
	})
	o.events.AddReceive(workflow.GetSignalChannel(ctx, RefreshName), func(c workflow.ReceiveChannel, _ bool) {
		if c.ReceiveAsync(nil) {
			o.dropRepeated(ctx, c)
			o.logRefresh(ctx, o.refresh(ctx))
		}
	})
	if err := o.registerRefresh(ctx); err != nil {
		return err
	}
	if err := o.registerAdvance(ctx); err != nil {
		return err
	}
	if err := registerHandler[Cancel](ctx, o); err != nil {
		return err
	}
	if err := registerHandler[Received](ctx, o); err != nil {
		return err
	}
	if err := registerHandler[Assigned](ctx, o); err != nil {
		return err
	}
	return registerHandler[Delivered](ctx, o)
}

// registerHandler registers a message as a signal and as an update. The update's validator refuses
// illegal moves before they enter the history.
func registerHandler[M Message](ctx workflow.Context, o *order) error {
	var zero M
	name := string(zero.Move())
	o.events.AddReceive(workflow.GetSignalChannel(ctx, name), func(c workflow.ReceiveChannel, _ bool) {
		var message M
		if !c.ReceiveAsync(&message) {
			return // malformed; Receive would block until the next signal of this name
		}
		r := request{move: message.Move(), by: models.ByOperator, message: message}
		if err := o.handleMove(ctx, r); err != nil {
			workflow.GetLogger(ctx).Warn("signal refused", "signal", name, "status", o.state.Status, "reason", err.Error())
		}
	})
	return workflow.SetUpdateHandlerWithOptions(ctx, name,
		func(ctx workflow.Context, message M) error {
			r := newUpdate(message)
			r.updateID = workflow.GetCurrentUpdateInfo(ctx).ID
			var outcome workflow.Future
			outcome, r.answer = workflow.NewFuture(ctx)
			o.requests.Send(ctx, func(ctx workflow.Context) { r.answer.SetError(o.handleMove(ctx, r)) })
			return outcome.Get(ctx, nil)
		},
		workflow.UpdateHandlerOptions{
			Validator: func(message M) error {
				r := newUpdate(message)
				if problem := message.problem(); problem != "" {
					return Refusal{Move: r.move, Status: o.state.Status, Reason: problem}.Err()
				}
				if !o.loaded {
					return nil // decided once the order is loaded
				}
				if _, verdict := o.validate(r); verdict == models.Refused {
					return Refusal{Move: r.move, Status: o.state.Status}.Err()
				}
				return nil
			},
			Description: "Moves the order; answers once the move is stored.",
		})
}

func newUpdate(message Message) request {
	return request{move: message.Move(), by: message.actor(), message: message}
}

// validate checks a move against the transition table.
func (o *order) validate(r request) (models.Status, models.Verdict) {
	if cancel, ok := r.message.(Cancel); ok && cancel.TooLate(o.state.Status) {
		return o.state.Status, models.Refused
	}
	if r.message != nil && r.message.Outdated(o.seq, o.state.RiderID) {
		return o.state.Status, models.Refused
	}
	return o.state.Decide(r.move, r.by, r.rider())
}

// handleMove validates a move and writes it to the database before the outcome is reported.
func (o *order) handleMove(ctx workflow.Context, r request) error {
	if r.message != nil {
		if problem := r.message.problem(); problem != "" {
			return Refusal{Move: r.move, Status: o.state.Status, Reason: problem}.Err()
		}
	}
	refreshed := false
	for {
		to, verdict := o.validate(r)
		if verdict != models.Applied && !refreshed && o.isDoubtful(ctx, r, verdict) && o.has(ctx, changeRefreshFirst) {
			refreshed = true
			if err := o.refresh(ctx); err != nil {
				return o.notApplied(ctx, r, err)
			}
			continue
		}
		switch verdict {
		case models.Refused:
			return Refusal{Move: r.move, Status: o.state.Status}.Err()
		case models.Unchanged:
			return nil
		}
		result, err := o.apply(ctx, r, to)
		if err != nil {
			return o.notApplied(ctx, r, err)
		}
		if result.Refused != "" {
			return Refusal{Move: r.move, Status: o.state.Status, Reason: result.Refused}.Err()
		}
		if result.Current != nil {
			// The order was moved by another run, or by this one before a crash. Restore the actual
			// state and decide again.
			o.restoreMoved(ctx, result.Current)
			continue
		}
		o.recordMove(ctx, r, to)
		o.scheduleMove(ctx, result)
		return nil
	}
}

// isDoubtful reports whether a verdict has to be held against the row first: a lost workflow task
// can leave the row ahead of this run. Whoever sent an update repeats it after a refusal that the
// row does not confirm; a signal's sender is a person who cannot. That nothing has to be done
// nobody would ask again. Thousands of signals do not read the row thousands of times: each result
// is in the history, and Temporal takes no workflow task of more than 4 MB.
func (o *order) isDoubtful(ctx workflow.Context, r request, verdict models.Verdict) bool {
	if r.isSignal() {
		return !o.isFresh(ctx)
	}
	return verdict == models.Unchanged
}

// notApplied handles a move that could not be written. The order goes on with its next message:
// only an order that does not exist ends its run.
func (o *order) notApplied(ctx workflow.Context, r request, err error) error {
	log := workflow.GetLogger(ctx)
	if hasType(err, orderMissingErrorType) {
		o.missing = err
		log.Error("the order does not exist; its workflow fails", "order_id", o.id, "move", r.move)
		return err
	}
	if isOutage(err) {
		log.Warn("move refused: its deadline passed while the database was unavailable", "order_id", o.id, "move", r.move)
		return Refusal{Move: r.move, Status: o.state.Status, Expired: true}.Err()
	}
	log.Error("move refused: it cannot be stored", "order_id", o.id, "move", r.move, "error", err)
	if r.move == models.MoveAutoCancel {
		o.startTimer(ctx, workflow.Now(ctx).Add(autoCancelRetry))
	}
	return Refusal{Move: r.move, Status: o.state.Status, Reason: reasonNotStored}.Err()
}

// autoCancelRetry is the time to the next auto-cancel after one that could not be stored.
const autoCancelRetry = time.Hour

// reasonNotStored is the reason of a move that the database does not accept.
const reasonNotStored = "El cambio no se pudo guardar porque sus datos no son válidos."

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
	o.startNextStep(ctx)
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
	move := ApplyMoveInput{OrderID: o.id, Seq: o.seq + 1, Move: r.move, By: r.by, To: to, Deadline: r.deadline()}
	if r.message != nil {
		r.message.setContent(&move)
		if !r.isSignal() {
			move.Requester = r.message.requester()
		}
	}
	move.EntryID, move.At = entryID(ctx, r, move), workflow.Now(ctx).UTC().Truncate(time.Microsecond)
	var result ApplyMoveResult
	err := runDBActivity(ctx, dbCall{summary: string(r.move), activity: ApplyMoveActivity, deadline: move.Deadline}, move, &result)
	return result, err
}

func (o *order) load(ctx workflow.Context) (*Snapshot, error) {
	var snapshot Snapshot
	err := runDBActivity(ctx, dbCall{summary: "read the order", activity: LoadOrderActivity}, o.id, &snapshot)
	return &snapshot, err
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
	fingerprint := ""
	if r.message != nil {
		fingerprint = r.message.Fingerprint()
	}
	run := workflow.GetInfo(ctx).WorkflowExecution.RunID
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fmt.Sprintf("%s %d %s %s %s", run, move.Seq, move.Move, move.By, fingerprint)))
}

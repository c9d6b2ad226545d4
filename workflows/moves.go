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

	// updateID is set for an update, which waits for the outcome.
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

// isUnanswered reports whether nobody waits for the outcome: the request came as a signal.
func (r request) isUnanswered() bool { return r.message != nil && r.updateID == "" }

func newUpdate(message Message) request {
	return request{move: message.Move(), by: message.actor(), message: message}
}

// validate checks a move against the run's state.
func (o *order) validate(r request) (models.Status, models.Verdict) {
	if r.message == nil {
		return o.state.Decide(r.move, r.by, nil)
	}
	to, verdict, _ := Decide(r.message, r.by, o.seq, o.state)
	return to, verdict
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
		if verdict != models.Applied && !refreshed && o.mustRefresh(ctx, r, verdict) && hasChange(ctx, changeRefreshFirst) {
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

// mustRefresh reports whether the row has to be read before the verdict is final: a lost workflow
// task can leave the row ahead of this run. The sender of an update repeats it after a refusal that
// the row does not confirm, but not after the answer that nothing has to be done. Nobody repeats a
// signal. Of many signals only some read the row: each result is in the history, and Temporal
// accepts no workflow task of more than 4 MB.
func (o *order) mustRefresh(ctx workflow.Context, r request, verdict models.Verdict) bool {
	if r.isUnanswered() {
		return !o.isFresh(ctx)
	}
	return verdict == models.Unchanged
}

// notApplied handles a move that could not be written. The run goes on with the next message,
// unless the order does not exist.
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
	if r.by == models.ByAuto {
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
	o.describe(ctx)
}

func (o *order) apply(ctx workflow.Context, r request, to models.Status) (ApplyMoveResult, error) {
	move := ApplyMoveInput{OrderID: o.id, Seq: o.seq + 1, Move: r.move, By: r.by, To: to, Deadline: r.deadline()}
	if r.message != nil {
		r.message.setContent(&move)
		if !r.isUnanswered() {
			move.Requester = r.message.requester()
		}
	}
	move.EntryID, move.At = entryID(ctx, r, move), workflow.Now(ctx).UTC().Truncate(time.Microsecond)
	var result ApplyMoveResult
	err := runDBActivity(ctx, dbCall{summary: string(r.move), activity: ApplyMoveActivity, deadline: move.Deadline}, move, &result)
	return result, err
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

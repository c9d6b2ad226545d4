package workflows

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// request is a requested move and who requests it.
type request struct {
	models.Message
	by models.Actor
	// updateID is set for an update, which waits for the outcome. Nobody waits for that of a signal,
	// nor of the timer's auto-cancel.
	updateID string
	// signal is the place of a signal among those of the run; 0 for what is none.
	signal int
}

func newRequest(move models.Move, by models.Actor, message models.Message) request {
	message.Move = move
	return request{Message: message, by: by}
}

// decide holds a move against the run's state.
func (o *order) decide(r request) (models.State, models.Verdict) {
	after, verdict, _ := r.Decide(r.by, o.seq, o.state)
	return after, verdict
}

// refusal is the error of a refused move; the reason may be empty.
func (o *order) refusal(r request, reason string) error {
	return Refusal{Move: r.Move, Status: o.state.Status, Reason: reason}.Err()
}

// handleMove validates a move and writes it to the database before the outcome is reported.
func (o *order) handleMove(ctx workflow.Context, r request) error {
	if problem := r.Problem(); problem != "" {
		return o.refusal(r, problem)
	}
	for refreshed := false; ; {
		after, verdict := o.decide(r)
		if verdict != models.Applied && !refreshed && o.mustRefresh(ctx, r, verdict) {
			refreshed = true
			if err := o.refresh(ctx); err != nil {
				return o.notApplied(ctx, r, err)
			}
			continue
		}
		switch verdict {
		case models.Refused:
			return o.refusal(r, "")
		case models.Unchanged:
			return nil
		}
		result, err := o.apply(ctx, r, after)
		switch {
		case err != nil:
			return o.notApplied(ctx, r, err)
		case result.Refused != "":
			return o.refusal(r, result.Refused)
		case result.Current != nil:
			o.restore(ctx, result.Current)
		default:
			o.setState(ctx, o.seq+1, after, result.Decision)
		}
		if result.Current == nil || result.Written {
			o.callWebhooks(ctx, result.Calls)
			return nil
		}
		// Another run has moved the order, or this one before a crash: decide again on its state.
	}
}

// mustRefresh reports whether the row has to be read before the verdict is final: a lost workflow
// task can leave the row ahead of this run. The sender of an update repeats it after a refusal that
// the row does not confirm, but not after the answer that nothing has to be done. Nobody repeats a
// signal. Of many signals one a second reads the row: each result is in the history, and Temporal
// accepts no workflow task of more than 4 MB.
func (o *order) mustRefresh(ctx workflow.Context, r request, verdict models.Verdict) bool {
	if r.signal > 0 {
		return workflow.Now(ctx).Sub(o.refreshedAt) >= time.Second
	}
	return verdict == models.Unchanged
}

// notApplied handles a move that could not be written. The run goes on with the next message,
// unless the order does not exist.
func (o *order) notApplied(ctx workflow.Context, r request, err error) error {
	log := workflow.GetLogger(ctx)
	if hasType(err, orderMissingErrorType) {
		o.missing = err
		log.Error("the order does not exist; its workflow fails", "order_id", o.id, "move", r.Move)
		return err
	}
	if isOutage(err) {
		log.Warn("move refused: its deadline passed while the database was unavailable", "order_id", o.id, "move", r.Move)
		return Refusal{Move: r.Move, Status: o.state.Status, Expired: true}.Err()
	}
	log.Error("move refused: it cannot be stored", "order_id", o.id, "move", r.Move, "error", err)
	if r.by == models.ByAuto {
		o.startTimer(ctx, workflow.Now(ctx).Add(timerRetry), r.Move)
	}
	return o.refusal(r, reasonNotStored)
}

const (
	// timerRetry is the time to the next move of a timer after one that could not be stored.
	timerRetry = time.Hour
	// reasonNotStored is the reason of a move that the database does not accept.
	reasonNotStored = "El cambio no se pudo guardar porque sus datos no son válidos."
)

func (o *order) apply(ctx workflow.Context, r request, after models.State) (*ApplyMoveResult, error) {
	var result ApplyMoveResult
	move := ApplyMoveInput{OrderID: o.id, Seq: o.seq + 1, Move: r.Move, By: r.by, To: after.Status, Substatus: after.Substatus,
		Message: r.Message}
	move.EntryID, move.At = entryID(ctx, r, move), workflow.Now(ctx).UTC().Truncate(time.Microsecond)
	return &result, runDBActivity(ctx, string(r.Move), ApplyMoveActivity, r.Deadline, move, &result)
}

// EntryID is the id of the timeline entry of a move that was requested by an update. The requester
// finds its move by it when the update's answer was lost.
func EntryID(updateID string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("update "+updateID))
}

// entryID is the id of a move's timeline entry: what the requester says, or derived from the
// update, from the place of the signal in the run, or from the run and the move. A workflow task
// that is lost is done again: what it has written is recognised by its entry, whatever the order's
// Seq is by then.
func entryID(ctx workflow.Context, r request, move ApplyMoveInput) uuid.UUID {
	run := workflow.GetInfo(ctx).WorkflowExecution.RunID
	switch {
	case r.EntryID != nil:
		return *r.EntryID
	case r.updateID != "":
		return EntryID(r.updateID)
	case r.signal > 0:
		return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fmt.Sprintf("%s signal %d", run, r.signal)))
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fmt.Sprintf("%s %d %s %s", run, move.Seq, move.Move, move.By)))
}

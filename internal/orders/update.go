package orders

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"despacho/internal/db"
	"despacho/models"
	"despacho/workflows"
)

// moveOrder moves an order and returns the moved order. attachment is a hash of what belongs to the
// request besides the message, such as a photo.
func (s *Service) moveOrder(
	ctx context.Context, caller Caller, order *models.OrderView, message models.Message, attachment string,
) (*View, error) {
	moved, err := s.moveAndCount(ctx, caller, order, message, attachment)
	if err != nil {
		return nil, err
	}
	return s.View(caller, moved), nil
}

// moveAndCount is move, and counts the move. A move whose requester disconnected is not
// counted as unconfirmed.
func (s *Service) moveAndCount(
	ctx context.Context, caller Caller, order *models.OrderView, message models.Message, attachment string,
) (*models.OrderView, error) {
	moved, err := s.move(ctx, caller, order, message, attachment)
	s.movesRequested.Add(1)
	if !hasLeft(ctx) && (errors.Is(err, ErrMoveUnconfirmed) || db.IsUnavailable(err)) {
		s.movesUnconfirmed.Add(1)
	}
	return moved, err
}

// hasLeft reports whether a requester did not wait for the answer. A request that took too long has
// another error.
func hasLeft(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// MoveCounts are the moves that this process was asked for, and those of them whose outcome the
// requester was not told because Temporal, the workers or the database did not answer in time.
func (s *Service) MoveCounts() (requested, unconfirmed int64) {
	return s.movesRequested.Load(), s.movesUnconfirmed.Load()
}

// move requests a move from the order's workflow, once no other request of this process moves the
// order. It returns the order once the move is stored, or if the order already is as requested.
func (s *Service) move(
	ctx context.Context, caller Caller, order *models.OrderView, message models.Message, attachment string,
) (*models.OrderView, error) {
	limited, cancel := context.WithTimeout(ctx, s.options.MoveTimeout)
	defer cancel()
	release, waited, err := s.locks.acquire(limited, order.ID)
	if err != nil {
		return nil, ErrMoveUnconfirmed.Because(err)
	}
	defer release()
	if waited {
		if order, err = s.Find(ctx, caller, order.ID); err != nil {
			return nil, err
		}
	}
	message.Requester = caller.requester()
	if by := caller.Actor(); message.By == "" && by != models.ByOperator {
		message.By = by
	}
	if message.EntryID != nil {
		if written, err := s.isWritten(ctx, *message.EntryID); err != nil || written {
			return order, err
		}
	}
	// The row is checked first: a move that it rules out needs no update.
	verdict, err := decide(message, caller.Actor(), order)
	if err != nil || verdict == models.Unchanged {
		return order, err
	}
	updateID := updateID(s.options.UpdateIDSecret, &order.Order, caller.Actor(), message, attachment)
	if err := s.updateUntilSettled(limited, &order.Order, caller.Actor(), message, updateID); err != nil {
		return nil, err
	}
	return s.Find(ctx, caller, order.ID)
}

// maxUpdates bounds the updates of one request: the first, one after a refresh, and one more if the
// order was moved in between.
const maxUpdates = 3

// updateUntilSettled sends the move as a workflow update until it is stored or refused for a reason
// that holds.
//
// The first update's id is derived from the request, so that a repeated request waits for the
// outcome of the update that is still under way instead of asking for the move once more. The
// failure of an update that has ended may be old: it is asked for once more.
func (s *Service) updateUntilSettled(
	ctx context.Context, order *models.Order, by models.Actor, message models.Message, updateID string,
) error {
	// Temporal compares the deadline with its own clock, never with one that a test has set.
	request, deadline := message, time.Now().Add(s.options.MoveDeadline)
	request.Deadline = &deadline
	for attempt := 1; ; attempt++ {
		err := s.sendUntilAnswered(ctx, order, request, updateID)
		if err == nil {
			return nil
		}
		refusal, refused := workflows.AsRefusal(err)
		if !refused {
			if !hasLeft(ctx) {
				s.log.WarnContext(ctx, "move not confirmed", "order_id", order.ID, "move", message.Move, "error", err)
			}
			return ErrMoveUnconfirmed.Because(err)
		}
		current, err := s.db.OrderViewByID(ctx, order.ID)
		if err != nil {
			return err
		}
		if _, err := decide(message, by, current); err != nil {
			return err
		}
		if attempt == maxUpdates || (attempt > 1 && refusal.Reason != "") {
			return lastRefusal(refusal)
		}
		switch {
		case refusal.Expired && attempt > 1:
			s.log.ErrorContext(ctx, "a move expired at once: the clocks of this machine and of Temporal differ", "order_id",
				order.ID)
			request = message
		case refusal.Reason == "" && !refusal.Expired:
			s.refresh(ctx, order.ID)
		}
		order, updateID = &current.Order, uuid.NewString()
	}
}

// sendUntilAnswered sends an update again for as long as the caller waits and Temporal does not
// answer. It returns nil once the move is stored, and a refusal only if the move is not.
func (s *Service) sendUntilAnswered(ctx context.Context, order *models.Order, request models.Message, updateID string) error {
	for {
		err := s.sendUpdate(ctx, order, request, updateID)
		if err == nil {
			return nil
		}
		written, lookupErr := s.isWritten(ctx, entryOf(request, updateID))
		switch {
		case written:
			s.reportWritten(ctx, order.ID)
			return nil
		case lookupErr != nil:
			return fmt.Errorf("looking for the move: %w (after: %v)", lookupErr, err)
		case !isWithoutOutcome(err):
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(sendAgainAfter):
		}
	}
}

// sendAgainAfter is the pause before an update is sent again. The SDK has waited longer, unless
// Temporal could not be asked at all.
const sendAgainAfter = 100 * time.Millisecond

// updateID derives an update's id from the order, its sequence number, the move and its content. A
// photo counts by the attachment's hash: its name is new in every request. The hash is keyed,
// because Temporal stores update ids as they are: with a plain hash a reason or a point could be
// guessed and confirmed.
func updateID(secret string, order *models.Order, by models.Actor, message models.Message, attachment string) string {
	message.Photo = ""
	content := fmt.Sprintf("%d %s %s %s %s", order.Seq, message.Move, by, message.Fingerprint(), attachment)
	hash := hmac.New(sha256.New, []byte(secret))
	hash.Write([]byte("update id\n" + content))
	return uuid.NewSHA1(order.ID, hash.Sum(nil)).String()
}

// decide holds a requested move against the row. The error says why the row refuses it.
func decide(message models.Message, by models.Actor, order *models.OrderView) (models.Verdict, error) {
	_, verdict, changed := message.Decide(by, order.Seq, order.State())
	switch {
	case changed:
		return models.Refused, orderChanged(by, order)
	case verdict == models.Refused:
		return models.Refused, moveRefused(message.Move, order.Status)
	case message.Move == models.MoveDeliver && lacksAmount(&order.Order, message.ActualAmountCollected):
		return models.Refused, errAmountRequired
	}
	return verdict, nil
}

// lastRefusal is the error of a move that the row allows and the workflow refused again: final only
// if the refusal has a reason of its own.
func lastRefusal(refusal workflows.Refusal) error {
	if refusal.Reason != "" {
		return ErrMoveRefused.Saying(refusal.Reason)
	}
	return ErrMoveUnconfirmed
}

// entryOf is the id of the timeline entry that an update of the workflow makes.
func entryOf(message models.Message, updateID string) uuid.UUID {
	if message.EntryID != nil {
		return *message.EntryID
	}
	return workflows.EntryID(updateID)
}

// isWritten reports whether an update's move is in the database although its answer was not a
// success: a worker that dies after writing it loses the answer, and its successor refuses the move
// as already made. So a refusal is the move's outcome only if it could be looked up. The update's
// own time may be over.
func (s *Service) isWritten(ctx context.Context, entryID uuid.UUID) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.MoveTimeout)
	defer cancel()
	var count int64
	err := s.db.Query(ctx).Model(&models.TimelineEntry{}).Where("id = ?", entryID).Count(&count).Error
	return count > 0, err
}

// sendUpdate sends one update and waits for its outcome.
func (s *Service) sendUpdate(ctx context.Context, order *models.Order, message models.Message, updateID string) error {
	options := client.UpdateWorkflowOptions{
		UpdateID:     updateID,
		WorkflowID:   workflows.OrderWorkflowID(order.ID),
		UpdateName:   string(message.Move),
		Args:         []any{message},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	handle, err := s.temporal.UpdateWorkflow(ctx, options)
	if isNotRunning(err) {
		// A workflow that has completed since the order was read is not started for a move that the order
		// does not allow any more.
		current, readErr := s.db.OrderViewByID(ctx, order.ID)
		if readErr != nil {
			return readErr
		}
		if _, verdict, _ := message.Decide(message.Actor(), current.Seq, current.State()); verdict == models.Refused &&
			current.Status.Ended() {
			return workflows.Refusal{Move: message.Move, Status: current.Status}.Err()
		}
		handle, err = s.updateWithStart(ctx, order, options)
	}
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if err == nil {
		s.confirmations.add(order.ID, order.Seq+1)
	}
	return err
}

// updateWithStart is for an order without a running workflow, because the timer cancelled it or its
// workflow was not started yet. The new run loads the order before it decides.
func (s *Service) updateWithStart(
	ctx context.Context, order *models.Order, options client.UpdateWorkflowOptions,
) (client.WorkflowUpdateHandle, error) {
	storeName, err := s.storeNameOf(ctx, order)
	if err != nil {
		return nil, err
	}
	start := s.startOptions(order, storeName)
	start.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	var handle client.WorkflowUpdateHandle
	err = s.startWith(ctx, start, func(start client.StartWorkflowOptions) (err error) {
		handle, err = s.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: s.temporal.NewWithStartWorkflowOperation(start, workflows.OrderWorkflowName,
				workflows.OrderInput{OrderID: order.ID}),
			UpdateOptions: options,
		})
		return err
	})
	if err == nil && order.WorkflowStartedAt == nil {
		s.confirmations.add(order.ID, order.Seq)
	}
	return handle, err
}

// refresh makes the order's workflow reload the order. An error shows in the next update.
func (s *Service) refresh(ctx context.Context, orderID uuid.UUID) {
	handle, err := s.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflows.OrderWorkflowID(orderID), UpdateName: workflows.RefreshName,
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if err != nil && !isNotRunning(err) {
		s.log.WarnContext(ctx, "order's workflow not refreshed", "order_id", orderID, "error", err)
	}
}

// reportWritten tells a workflow that may not know of its own last move to reload the order. If the
// signal is lost, the next move finds it behind its row.
func (s *Service) reportWritten(ctx context.Context, orderID uuid.UUID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.MoveTimeout)
	defer cancel()
	if err := s.signalRefresh(ctx, orderID); err != nil && !isNotRunning(err) {
		s.log.WarnContext(ctx, "order's workflow not told to refresh", "order_id", orderID, "error", err)
	}
}

// isWithoutOutcome reports whether a call ended without an outcome because Temporal did not answer
// or was too busy. The SDK has repeated a call that Temporal refused, until it gave up.
func isWithoutOutcome(err error) bool {
	var (
		late        *client.WorkflowUpdateServiceTimeoutOrCanceledError
		deadline    *serviceerror.DeadlineExceeded
		unavailable *serviceerror.Unavailable
		exhausted   *serviceerror.ResourceExhausted
	)
	return errors.As(err, &late) || errors.As(err, &deadline) || errors.As(err, &unavailable) || errors.As(err, &exhausted)
}

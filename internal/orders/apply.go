package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/photos"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/workflows"
)

// LoadSnapshot reads an order for its workflow.
func (s *Service) LoadSnapshot(ctx context.Context, orderID uuid.UUID) (*workflows.Snapshot, error) {
	order, err := s.db.OrderViewByID(ctx, orderID)
	if db.IsNotFound(err) {
		return nil, ErrOrderNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.snapshot(ctx, s.db, &order.Order)
}

func (s *Service) snapshot(ctx context.Context, database *db.DB, order *models.Order) (*workflows.Snapshot, error) {
	calls, err := firstCalls(ctx, database, order.ID, nil)
	if err != nil {
		return nil, err
	}
	operator, err := database.Operator(ctx, order.OperatorID)
	if err != nil {
		return nil, err
	}
	state := order.State()
	return &workflows.Snapshot{
		Status: state.Status, CancelledBy: state.CancelledBy, RiderID: state.RiderID,
		Seq: order.Seq, GuideCode: order.GuideCode, AutoCancelAt: order.AutoCancelAt,
		Calls: calls, ResolveMapLink: needsMapLink(order), VerifyIdentity: s.needsIdentityCheck(order, operator),
	}, nil
}

// Apply writes a move that the workflow has decided. One transaction writes the order, its timeline
// entry, its event with its data, and the webhook calls of that. A move that was already written is
// not written again.
func (s *Service) Apply(ctx context.Context, move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
	var result workflows.ApplyMoveResult
	message := &move.Message
	message.Move = move.Move // it is not on the wire
	if message.Photo != "" && !photos.IsName(message.Photo) {
		result.Refused = "photo no es el nombre de una foto guardada."
		return &result, nil
	}
	err := s.db.InMove(ctx, move.OrderID, move.EntryID, message.Rider(), message.BranchID, func(tx, writes *db.DB,
		order *models.Order, moveContext *db.MoveContext) (err error) {
		if moveContext.EntrySeq != nil || order.Seq != move.Seq-1 {
			return s.alreadyMoved(ctx, tx, order, moveContext.EntrySeq, &result)
		}
		if result.Refused = checkMove(order, moveContext, move); result.Refused != "" {
			return nil
		}
		before := *order
		applyMove(order, &moveContext.Operator, move)
		// When the row is written, which may be long after the move: lists look for what was written.
		order.UpdatedAt = clock.Normalize(s.clock.Now())
		if err := writes.SaveMove(ctx, &before, order, timelineEntry(order, move)); err != nil {
			return err
		}
		if err := SaveTotals(ctx, writes, &moveContext.Operator, &before, order); err != nil {
			return err
		}
		result.Calls, err = s.insertEvent(ctx, tx, writes, order, moveContext, move)
		return err
	})
	if db.IsNotFound(err) {
		err = ErrOrderNotFound
	}
	return &result, err
}

// alreadyMoved is the result for an order that has moved since the run decided the move. The move
// itself was written before if its entry exists, with whichever seq: updates whose answers were
// lost may be applied again in another sequence.
func (s *Service) alreadyMoved(
	ctx context.Context, tx *db.DB, order *models.Order, writtenAs *int, result *workflows.ApplyMoveResult,
) (err error) {
	result.Written = writtenAs != nil
	if result.Written {
		if result.Calls, err = firstCalls(ctx, tx, order.ID, writtenAs); err != nil {
			return err
		}
	}
	result.Current, err = s.snapshot(ctx, tx, order)
	return err
}

// checkMove checks the rider, the branch and the amount collected, and returns the reason of a
// refusal. The callers check them too, but a signal can come from the Temporal UI, and a correction
// can come between a caller's check and the lock of the row.
func checkMove(order *models.Order, moveContext *db.MoveContext, move workflows.ApplyMoveInput) string {
	active := func(flag *bool) bool { return flag != nil && *flag }
	switch {
	case move.Move == models.MoveAssign && !active(moveContext.RiderActive):
		return "El motorizado no existe o no está activo."
	case move.Move == models.MoveReceive && move.Message.BranchID != nil && !active(moveContext.BranchActive):
		return "La sucursal no existe o no está activa."
	case move.Move == models.MoveDeliver && lacksAmount(order, move.Message.ActualAmountCollected):
		return "actual_amount_collected " + amountRequired + "."
	}
	return ""
}

// applyMove applies the move to the row.
func applyMove(order *models.Order, operator *models.Operator, move workflows.ApplyMoveInput) {
	at := clock.Normalize(move.At) // the precision that the database stores, so that webhooks and reads agree
	message := &move.Message
	order.Status, order.Seq = move.To, move.Seq
	if move.By != models.ByAuto {
		// The move is confirmed when the update returns. The auto-cancel needs no confirmation: its timer
		// is in the history.
		order.WorkflowStartedAt = nil
	}
	switch move.Move {
	case models.MoveReceive:
		order.ReceivedAt = &at
		order.OperativeDay = operativeDay(at, operator)
		if message.BranchID != nil {
			order.BranchID = *message.BranchID
		}
		// A revived order is no longer cancelled; the timeline keeps the cancellation.
		order.CancelledBy, order.CancelReason, order.CancelNote, order.CancelledAt = nil, nil, nil, nil
		// What happens to an erased order that is revived, such as a photo, is to be erased again.
		order.ErasedAt = nil
	case models.MoveAssign:
		order.AssignedAt = &at
		order.RiderID = message.RiderID
	case models.MoveDeliver:
		order.DeliveredAt = &at
		order.ActualAmountCollected = message.ActualAmountCollected
		if message.Photo != "" {
			order.ProofPhoto = &message.Photo
			if captured := message.CapturedAt; captured != nil {
				taken := clock.Normalize(*captured)
				order.ProofCapturedAt = &taken
			}
			order.ProofLat, order.ProofLng = message.Lat, message.Lng
		}
	case models.MoveCancel:
		order.CancelledAt = &at
		by := move.By
		order.CancelledBy = &by
		order.CancelReason, order.CancelNote = textOrNull(message.Reason), textOrNull(message.Note)
	}
}

// insertEvent writes the move's event, if it has one, with its webhook calls, and returns those
// whose first attempt the workflow makes.
func (s *Service) insertEvent(
	ctx context.Context, tx, writes *db.DB, order *models.Order, moveContext *db.MoveContext, move workflows.ApplyMoveInput,
) ([]workflows.WebhookCall, error) {
	name, emits := move.Move.Event()
	if !emits {
		return nil, nil
	}
	view := &models.OrderView{Order: *order, LocationName: moveContext.LocationName, RiderName: moveContext.RiderName,
		RiderPhone: moveContext.RiderPhone}
	event, err := s.feedEvent(move.EntryID, name, view, moveContext.Operator.ShareProofLocation, move.At)
	if err != nil {
		return nil, err
	}
	if err := writes.Insert(ctx, event); err != nil || !moveContext.HasWebhooks {
		return nil, err
	}
	hooks, err := webhooks.Active(ctx, tx, db.WebhookScope{OperatorID: order.OperatorID, Test: order.Test})
	if err != nil {
		return nil, err
	}
	var heldUp map[uuid.UUID]bool
	if moveContext.HasPending {
		if heldUp, err = webhooks.HeldUp(ctx, tx, order.ID, s.clock.Now()); err != nil {
			return nil, err
		}
	}
	deliveries, err := deliveriesOf(event, order.Seq, subscribed(hooks, name, order), heldUp)
	if err != nil {
		return nil, err
	}
	return callsOf(hooks, deliveries), writes.InsertDeliveries(ctx, deliveries)
}

func timelineEntry(order *models.Order, move workflows.ApplyMoveInput) *models.TimelineEntry {
	seq := move.Seq
	return &models.TimelineEntry{
		ID: move.EntryID, OrderID: order.ID, Seq: &seq, Type: entryType(move.Move),
		Status: order.Status, By: string(move.By), UserID: move.Message.UserID, KeyID: move.Message.KeyID,
		Detail: textOrNull(move.Message.Reason), RiderID: move.Message.Rider(), At: move.At,
	}
}

// entryType is the timeline type of a move.
func entryType(move models.Move) string {
	if move == models.MoveCancel {
		return string(models.StatusCancelled)
	}
	return string(move)
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

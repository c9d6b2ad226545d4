package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/photos"
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
	deliveries, more, err := pendingRefs(ctx, database, order.ID, nil)
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
		Deliveries: deliveries, MoreDeliveries: more, ResolveMapLink: needsMapLink(order), VerifyIdentity: s.needsIdentityCheck(order, operator),
	}, nil
}

// Apply writes a move that the workflow has decided. One transaction writes the order, its timeline
// entry, its event with its data, and the deliveries of that. A move that was already written is
// not written again.
func (s *Service) Apply(ctx context.Context, move workflows.ApplyMoveInput) (*workflows.ApplyMoveResult, error) {
	var result workflows.ApplyMoveResult
	if move.Delivered != nil && move.Delivered.Photo != "" && !photos.IsName(move.Delivered.Photo) {
		result.Refused = "photo no es el nombre de una foto guardada."
		return &result, nil
	}
	rider, branch := riderAndBranch(move)
	err := s.db.InMove(ctx, move.OrderID, rider, branch, func(tx, writes *db.DB, order *models.Order, moveContext *db.MoveContext) (err error) {
		if order.Seq != move.Seq-1 {
			return s.alreadyMoved(ctx, tx, order, move, &result)
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
		result.Deliveries, err = s.insertEvent(ctx, tx, writes, order, moveContext, move)
		return err
	})
	if db.IsNotFound(err) {
		err = ErrOrderNotFound
	}
	return &result, err
}

// alreadyMoved distinguishes a retry of this move, whose result was lost, from a move made outside
// this run.
func (s *Service) alreadyMoved(ctx context.Context, tx *db.DB, order *models.Order, move workflows.ApplyMoveInput, result *workflows.ApplyMoveResult) error {
	var entry models.TimelineEntry
	err := tx.Query(ctx).Where("order_id = ? AND seq = ?", order.ID, move.Seq).Take(&entry).Error
	if err == nil && entry.ID == move.EntryID {
		result.Deliveries, result.MoreDeliveries, err = pendingRefs(ctx, tx, order.ID, &move.Seq)
		return err
	}
	if err != nil && !db.IsNotFound(err) {
		return err
	}
	result.Current, err = s.snapshot(ctx, tx, order)
	return err
}

// riderAndBranch returns the rider and the branch that a move names.
func riderAndBranch(move workflows.ApplyMoveInput) (rider, branch *uuid.UUID) {
	if move.Assigned != nil {
		rider = &move.Assigned.RiderID
	}
	if move.Received != nil {
		branch = move.Received.BranchID
	}
	return rider, branch
}

// checkMove checks the rider, the branch and the amount collected, and returns the reason of a
// refusal. The callers check them too, but a signal can come from the Temporal UI, and a correction
// can come between a caller's check and the lock of the row.
func checkMove(order *models.Order, moveContext *db.MoveContext, move workflows.ApplyMoveInput) string {
	active := func(flag *bool) bool { return flag != nil && *flag }
	switch {
	case move.Assigned != nil && !active(moveContext.RiderActive):
		return "El motorizado no existe o no está activo."
	case move.Received != nil && move.Received.BranchID != nil && !active(moveContext.BranchActive):
		return "La sucursal no existe o no está activa."
	case move.Delivered != nil && lacksAmount(order, *move.Delivered):
		return "actual_amount_collected " + amountRequired + "."
	}
	return ""
}

// applyMove applies the move to the row.
func applyMove(order *models.Order, operator *models.Operator, move workflows.ApplyMoveInput) {
	at := clock.Normalize(move.At) // the precision that the database stores, so that webhooks and reads agree
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
		if move.Received.BranchID != nil {
			order.BranchID = *move.Received.BranchID
		}
		// A revived order is no longer cancelled; the timeline keeps the cancellation.
		order.CancelledBy, order.CancelReason, order.CancelNote, order.CancelledAt = nil, nil, nil, nil
		// What happens to an erased order that is revived, such as a photo, is to be erased again.
		order.ErasedAt = nil
	case models.MoveAssign:
		order.AssignedAt = &at
		order.RiderID = &move.Assigned.RiderID
	case models.MoveDeliver:
		order.DeliveredAt = &at
		order.ActualAmountCollected = move.Delivered.ActualAmountCollected
		if move.Delivered.Photo != "" {
			order.ProofPhoto = &move.Delivered.Photo
			if captured := move.Delivered.CapturedAt; captured != nil {
				taken := clock.Normalize(*captured)
				order.ProofCapturedAt = &taken
			}
			order.ProofLat, order.ProofLng = move.Delivered.Lat, move.Delivered.Lng
		}
	case models.MoveCancel:
		order.CancelledAt = &at
		by := move.By
		order.CancelledBy = &by
		if move.Cancel != nil {
			order.CancelReason, order.CancelNote = textOrNull(move.Cancel.Reason), textOrNull(move.Cancel.Note)
		}
	}
}

// insertEvent writes the move's event, if it has one, with its deliveries, and returns the
// references of those that the workflow sends.
func (s *Service) insertEvent(ctx context.Context, tx, writes *db.DB, order *models.Order, moveContext *db.MoveContext, move workflows.ApplyMoveInput) ([]workflows.WebhookDeliveryRef, error) {
	name, emits := move.Move.Event()
	if !emits {
		return nil, nil
	}
	view := &models.OrderView{Order: *order, LocationName: moveContext.LocationName, RiderName: moveContext.RiderName, RiderPhone: moveContext.RiderPhone}
	event, err := s.feedEvent(move.EntryID, name, view, moveContext.Operator.ShareProofLocation, move.At)
	if err != nil {
		return nil, err
	}
	if err := writes.Insert(ctx, event); err != nil || !moveContext.HasWebhooks {
		return nil, err
	}
	hooks, err := tx.ActiveWebhooks(ctx, db.WebhookScope{OperatorID: order.OperatorID, Test: order.Test})
	if err != nil {
		return nil, err
	}
	deliveries, err := deliveriesOf(event, order.Seq, subscribed(hooks, name, order))
	if err != nil {
		return nil, err
	}
	return deliveryRefs(hooks, deliveries), writes.InsertDeliveries(ctx, deliveries)
}

func timelineEntry(order *models.Order, move workflows.ApplyMoveInput) *models.TimelineEntry {
	seq := move.Seq
	entry := &models.TimelineEntry{
		ID: move.EntryID, OrderID: order.ID, Seq: &seq, Type: entryType(move.Move),
		Status: order.Status, By: string(move.By), UserID: move.Requester.UserID, KeyID: move.Requester.KeyID,
		Detail: entryDetail(move), At: move.At,
	}
	if move.Assigned != nil {
		entry.RiderID = &move.Assigned.RiderID
	}
	return entry
}

// entryType is the timeline type of a move.
func entryType(move models.Move) string {
	if move == models.MoveCancel {
		return string(models.StatusCancelled)
	}
	return string(move)
}

func entryDetail(move workflows.ApplyMoveInput) *string {
	if move.Cancel == nil {
		return nil
	}
	return textOrNull(move.Cancel.Reason)
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

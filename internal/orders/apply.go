package orders

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/money"
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
	return &workflows.Snapshot{
		State: order.State(), Seq: order.Seq, GuideCode: order.GuideCode, AutoCancelAt: order.AutoCancelAt,
		Decision: undecided(order, operator.Rules), Calls: calls, ResolveMapLink: needsMapLink(order), VerifyIdentity: s.needsIdentityCheck(order, operator),
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
		entry := timelineEntry(order, move)
		if move.Move == models.MoveUndo {
			if result.Refused, err = s.takeBack(ctx, tx, order, &moveContext.Operator, move); err != nil || result.Refused != "" {
				return err
			}
		} else {
			applyMove(order, moveContext, move)
			entry.Detail = decisionDetail(entry, order, message)
		}
		entry.Status, entry.Before = order.Status, changedByMove(move.Move, &before, order)
		// When the row is written, which may be long after the move: lists look for what was written.
		order.UpdatedAt = clock.Normalize(s.clock.Now())
		if err := writes.SaveMove(ctx, &before, order, entry); err != nil {
			return err
		}
		if err := SaveTotals(ctx, writes, &moveContext.Operator, &before, order); err != nil {
			return err
		}
		if err := SaveLedger(ctx, writes, &moveContext.Operator, &before, order, entry); err != nil {
			return err
		}
		if result.Calls, err = s.insertEvents(ctx, tx, writes, &before, order, moveContext, move); err != nil {
			return err
		}
		result.Decision = undecided(order, moveContext.Operator.Rules)
		if move.Move == models.MoveUndo {
			if result.Current, err = s.snapshot(ctx, tx, order); err != nil {
				return err
			}
			result.Written, result.Current.Calls = true, nil
		}
		return nil
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
	case move.Move == models.MoveDeliver && lacksAmount(order, collectedOf(&move.Message)):
		return "actual_amount_collected " + amountRequired + "."
	}
	return ""
}

// applyMove applies the move to the row.
func applyMove(order *models.Order, moveContext *db.MoveContext, move workflows.ApplyMoveInput) {
	operator := &moveContext.Operator
	at := clock.Normalize(move.At) // the precision that the database stores, so that webhooks and reads agree
	message := &move.Message
	before := order.Status
	order.Status, order.Substatus, order.Seq = move.To, move.Substatus.OrNil(), move.Seq
	if move.By != models.ByAuto {
		// The move is confirmed when the update returns. The auto-cancel needs no confirmation: its timer
		// is in the history.
		order.WorkflowStartedAt = nil
	}
	if !move.Substatus.Undecided() {
		order.DecisionDeadline = nil
	}
	if move.Substatus != models.SubstatusRetryPlanned {
		order.NextAttemptOn = nil
	}
	switch move.Move {
	case models.MoveReceive:
		applyReception(order, operator, before, at)
		if message.BranchID != nil {
			order.BranchID = *message.BranchID
		}
	case models.MoveAssign:
		order.AssignedAt, order.LoadedAt = &at, nil
		order.RiderID = message.RiderID
	case models.MoveDeliver:
		applyDelivery(order, message, occurredAt(order, message, at))
	case models.MoveFail:
		applyFailure(order, operator.Rules, fee(moveContext.StoreAttemptFee, operator.Rules.AttemptFee), message, at)
	case models.MoveRetry:
		on := message.On
		if on == "" {
			on = nextAttemptDay(operator, at)
		}
		order.NextAttemptOn = &on
	case models.MoveCancel, models.MoveHandBack:
		order.CancelledAt = &at
		by := move.By
		order.CancelledBy = &by
		order.CancelReason, order.CancelNote = textOrNull(message.Reason), textOrNull(message.Note)
		if move.Move == models.MoveHandBack {
			reason := string(models.SubstatusReturned)
			order.CancelReason, order.ReturnFee = &reason, fee(moveContext.StoreReturnFee, operator.Rules.ReturnFee)
		}
	}
}

// applyReception records a package at the counter. One that a rider brings back keeps its first
// reception: since then it has waited.
func applyReception(order *models.Order, operator *models.Operator, before models.Status, at time.Time) {
	if before == models.StatusAssigned {
		order.RiderID, order.AssignedAt, order.LoadedAt = nil, nil, nil
		return
	}
	order.ReceivedAt = &at
	order.OperativeDay = operativeDay(at, operator)
	// A revived order is no longer cancelled; the timeline keeps the cancellation.
	order.CancelledBy, order.CancelReason, order.CancelNote, order.CancelledAt = nil, nil, nil, nil
	// What happens to an erased order that is revived, such as a photo, is to be erased again.
	order.ErasedAt = nil
}

func applyDelivery(order *models.Order, message *models.Message, at time.Time) {
	order.DeliveredAt = &at
	order.Collections, order.ActualAmountCollected = message.Collections, collectedOf(message)
	order.ReceivedBy = textOrNull(message.ReceivedBy)
	if message.Photo == "" {
		return
	}
	order.ProofPhoto = &message.Photo
	if captured := message.CapturedAt; captured != nil {
		taken := clock.Normalize(*captured)
		order.ProofCapturedAt = &taken
	}
	order.ProofLat, order.ProofLng = message.Lat, message.Lng
}

// collectedOf is what a delivery says was collected: the sum of its parts, if it has any.
func collectedOf(message *models.Message) *money.Cents {
	if len(message.Collections) == 0 {
		return message.ActualAmountCollected
	}
	total := message.Collections.Total()
	return &total
}

// occurredAt is when something happened that a rider reports: not before the rider got the package,
// and not in the future.
func occurredAt(order *models.Order, message *models.Message, at time.Time) time.Time {
	if message.OccurredAt == nil || !message.OccurredAt.Before(at) {
		return at
	}
	occurred := clock.Normalize(*message.OccurredAt)
	if order.AssignedAt != nil && occurred.Before(*order.AssignedAt) {
		return *order.AssignedAt
	}
	return occurred
}

// insertEvents writes the events of a move with their webhook calls, and returns those whose first
// attempt the workflow makes.
func (s *Service) insertEvents(
	ctx context.Context, tx, writes *db.DB, before, order *models.Order, moveContext *db.MoveContext, move workflows.ApplyMoveInput,
) (calls []workflows.WebhookCall, err error) {
	names := move.Move.Events()
	if len(names) == 0 {
		return nil, nil
	}
	view, err := viewAfter(ctx, tx, before, order, moveContext, move.Move)
	if err != nil {
		return nil, err
	}
	var hooks []models.Webhook
	if moveContext.HasWebhooks {
		if hooks, err = webhooks.Active(ctx, tx, db.WebhookScope{OperatorID: order.OperatorID, Test: order.Test}); err != nil {
			return nil, err
		}
	}
	var heldUp map[uuid.UUID]bool
	if moveContext.HasPending {
		if heldUp, err = webhooks.HeldUp(ctx, tx, order.ID, s.clock.Now()); err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		var changed []string
		if name == models.EventUpdated {
			was := &models.OrderView{Order: *before, LocationName: view.LocationName, RiderName: moveContext.RiderName,
				RiderPhone: moveContext.RiderPhone}
			if changed, err = s.changedMembers(was, view); err != nil {
				return nil, err
			}
		}
		event, err := s.feedEvent(eventID(move.EntryID, name, i), name, view, changed, moveContext.Operator.ShareProofLocation, move.At)
		if err != nil {
			return nil, err
		}
		if err := writes.Insert(ctx, event); err != nil {
			return nil, err
		}
		deliveries, err := deliveriesOf(event, order.Seq, subscribed(hooks, name, order), heldUp)
		if err != nil {
			return nil, err
		}
		if err := writes.InsertDeliveries(ctx, deliveries); err != nil {
			return nil, err
		}
		calls = append(calls, callsOf(hooks, deliveries)...)
	}
	return calls, nil
}

// viewAfter is an order after a move with its names. The context has those from before, and the
// rider of an assignment.
func viewAfter(
	ctx context.Context, tx *db.DB, before, order *models.Order, moveContext *db.MoveContext, move models.Move,
) (*models.OrderView, error) {
	view := &models.OrderView{Order: *order, LocationName: moveContext.LocationName}
	switch {
	case order.RiderID == nil:
	case move == models.MoveAssign || before.RiderID != nil && *before.RiderID == *order.RiderID:
		view.RiderName, view.RiderPhone = moveContext.RiderName, moveContext.RiderPhone
	default:
		var rider models.Rider
		if err := tx.Query(ctx).Where("id = ?", *order.RiderID).Take(&rider).Error; err != nil {
			return nil, err
		}
		view.RiderName, view.RiderPhone = &rider.Name, &rider.Phone
	}
	return view, nil
}

// eventID is the id of a move's event: that of its timeline entry, or one derived from it for a
// move's second event.
func eventID(entry uuid.UUID, name models.Event, index int) uuid.UUID {
	if index == 0 {
		return entry
	}
	return uuid.NewSHA1(entry, []byte(name))
}

// timelineEntry is the entry of a move of an order as it was before. The rider is who got the
// package, or who had it.
func timelineEntry(before *models.Order, move workflows.ApplyMoveInput) *models.TimelineEntry {
	seq, message := move.Seq, &move.Message
	entry := &models.TimelineEntry{
		ID: move.EntryID, OrderID: before.ID, Seq: &seq, Type: entryType(move.Move),
		By: string(move.By), UserID: message.UserID, KeyID: message.KeyID,
		Detail: textOrNull(message.Reason), RiderID: message.Rider(), At: move.At, ClockOff: message.ClockOff,
	}
	switch move.Move {
	case models.MoveFail, models.MoveDeliver:
		entry.RiderID = before.RiderID
		entry.Photo = textOrNull(message.Photo)
		if occurred := occurredAt(before, message, clock.Normalize(move.At)); message.OccurredAt != nil {
			entry.OccurredAt = &occurred
		}
	case models.MoveReceive:
		if before.Status == models.StatusAssigned {
			entry.RiderID = before.RiderID
		}
	}
	return entry
}

// decisionDetail is the detail of an entry after its move: of a planned attempt its date, and after
// that the note of whoever decided, in lines of their own.
func decisionDetail(entry *models.TimelineEntry, order *models.Order, message *models.Message) *string {
	switch message.Move {
	case models.MoveReturn:
		return textOrNull(message.Note)
	case models.MoveRetry:
		return textOrNull(strings.TrimSpace(*order.NextAttemptOn + "\n" + message.Note))
	}
	return entry.Detail
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

package orders

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/workflows"
)

// movedFields are the fields of an order that a move may change, besides its Seq.
var movedFields = []string{
	"Status", "Substatus", "OperativeDay", "BranchID", "RiderID", "Attempts", "NextAttemptOn", "DecisionDeadline",
	"ActualAmountCollected", "Collections", "ReceivedBy", "ProofPhoto", "ProofCapturedAt", "ProofLat", "ProofLng",
	"CancelledBy", "CancelReason", "CancelNote", "ReceivedAt", "AssignedAt", "LoadedAt", "DeliveredAt", "CancelledAt", "ErasedAt",
}

// changedByMove is what a move that can be taken back has changed in an order, as it was before, as
// JSON by the name of the field; nil for other moves.
func changedByMove(move models.Move, before, after *models.Order) *string {
	if !move.Undoable() {
		return nil
	}
	was, is := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	changed := map[string]any{}
	for _, name := range movedFields {
		if old := was.FieldByName(name).Interface(); !reflect.DeepEqual(old, is.FieldByName(name).Interface()) {
			changed[name] = old
		}
	}
	text, err := json.Marshal(changed)
	if err != nil {
		panic(err) // every field of an order has a form in JSON
	}
	kept := string(text)
	return &kept
}

// takeBackChange gives the fields that a move has changed their values before it.
func takeBackChange(order *models.Order, kept string) error {
	var changed map[string]json.RawMessage
	if err := json.Unmarshal([]byte(kept), &changed); err != nil {
		return err
	}
	fields := reflect.ValueOf(order).Elem()
	for name, old := range changed {
		if !slices.Contains(movedFields, name) {
			continue
		}
		field := fields.FieldByName(name)
		field.SetZero()
		if err := json.Unmarshal(old, field.Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}

// takeBack makes an order what it was before its latest move. What is refused has a reason.
func (s *Service) takeBack(
	ctx context.Context, tx *db.DB, order *models.Order, operator *models.Operator, move workflows.ApplyMoveInput,
) (refused string, err error) {
	latest, err := latestMove(ctx, tx, order)
	if err != nil {
		return "", err
	}
	if refused, err := undoRefused(ctx, tx, latest, operator.Rules, order, move.At); err != nil || refused != "" {
		return refused, err
	}
	if err := takeBackChange(order, *latest.Before); err != nil {
		return "", err
	}
	order.Seq, order.WorkflowStartedAt = move.Seq, nil
	return "", nil
}

// latestMove is the timeline entry of an order's latest move.
func latestMove(ctx context.Context, database *db.DB, order *models.Order) (*models.TimelineEntry, error) {
	var entry models.TimelineEntry
	err := database.Query(ctx).Where("order_id = ? AND seq = ?", order.ID, order.Seq).Take(&entry).Error
	return &entry, err
}

// undoRefused says why the latest move of an order cannot be taken back; empty if it can.
func undoRefused(
	ctx context.Context, database *db.DB, latest *models.TimelineEntry, rules models.Rules, order *models.Order, at time.Time,
) (string, error) {
	switch {
	case order.ErasedAt != nil:
		return "Los datos del destinatario se eliminaron: el cambio ya no se puede deshacer.", nil
	case latest.Before == nil:
		return "El último cambio del pedido no es uno que se pueda deshacer.", nil
	case at.After(latest.At.Add(rules.UndoTime())):
		return "Ya pasó el tiempo para deshacer el cambio.", nil
	case order.Status != models.StatusDelivered:
		return "", nil
	}
	handedIn, err := isHandedIn(ctx, database, order.ID)
	if handedIn {
		return "El motorizado ya rindió lo que cobró: la entrega ya no se puede deshacer. Corrija el monto.", nil
	}
	return "", err
}

// Undo takes the latest move of an order back, with a reason: the order is what it was before.
func (s *Service) Undo(ctx context.Context, caller Caller, order *models.OrderView, in *jsonbody.Object) (*View, error) {
	undone := models.Message{Move: models.MoveUndo, Reason: in.RequiredLines("reason", models.MaxCancelReason),
		ExpectedSeq: in.Int(ExpectedVersion)}
	if err := in.Err(); err != nil {
		return nil, err
	}
	latest, err := latestMove(ctx, s.db, &order.Order)
	if err != nil {
		return nil, err
	}
	if _, err := decide(undone, caller.Actor(), order); err != nil {
		return nil, err
	}
	refused, err := undoRefused(ctx, s.db, latest, caller.Operator.Rules, &order.Order, s.clock.Now())
	if err != nil {
		return nil, err
	}
	if refused != "" {
		return nil, ErrUndoRefused.Saying(refused)
	}
	return s.moveOrder(ctx, caller, order, undone, "")
}

// ErrUndoRefused is a move that cannot be taken back. What is returned is a copy with a message.
var ErrUndoRefused = &apperror.Error{Kind: apperror.Conflict, Code: "undo_not_allowed"}

// Undoable is the latest move of an order, if it can be taken back and the caller may do so.
type Undoable struct {
	Move models.Move
	// Until is when it no longer can be.
	Until time.Time
}

// undoable is what can be taken back in an order whose timeline was read; nil if nothing can.
func (s *Service) undoable(
	ctx context.Context, caller Caller, order *models.Order, timeline []models.TimelineView,
) (*Undoable, error) {
	if _, verdict := order.State().Decide(models.MoveUndo, caller.Actor(), nil); verdict != models.Applied {
		return nil, nil
	}
	rules := caller.Operator.Rules
	for _, entry := range timeline {
		if entry.Seq == nil || *entry.Seq != order.Seq {
			continue
		}
		refused, err := undoRefused(ctx, s.db, &entry.TimelineEntry, rules, order, s.clock.Now())
		if err != nil || refused != "" {
			return nil, err
		}
		return &Undoable{Move: models.Move(entry.Type), Until: entry.At.Add(rules.UndoTime()).UTC()}, nil
	}
	return nil, nil
}

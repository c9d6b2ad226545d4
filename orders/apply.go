package orders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/models"
	"despacho/webhooks"
	"despacho/workflows"
)

// Load reads an order for its workflow.
func (s *Service) Load(ctx context.Context, orderID uuid.UUID) (*workflows.Snapshot, error) {
	order, err := s.db.OrderViewByID(ctx, orderID)
	if err != nil {
		return nil, err
	}
	return s.snapshot(ctx, s.db, &order.Order)
}

func (s *Service) snapshot(ctx context.Context, database *db.DB, order *models.Order) (*workflows.Snapshot, error) {
	deliveries, err := refsOf(ctx, database, order.ID, nil)
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
		Deliveries: deliveries, ResolveMapLink: needsResolving(order), VerifyIdentity: s.needsVerifying(order, operator),
	}, nil
}

// Apply writes a move that the workflow has decided: in one transaction the order, its timeline entry and the deliveries of its
// event with their data as of this moment. A move that is there already is left as it is.
func (s *Service) Apply(ctx context.Context, move workflows.MoveOrder) (*workflows.MoveResult, error) {
	var result workflows.MoveResult
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		order, err := tx.LockOrder(ctx, move.OrderID)
		if err != nil {
			return err
		}
		if order.Seq != move.Seq-1 {
			return s.alreadyMoved(ctx, tx, order, move, &result)
		}
		operator, err := tx.Operator(ctx, order.OperatorID)
		if err != nil {
			return err
		}
		if result.Refused, err = check(ctx, tx, operator, move); err != nil || result.Refused != "" {
			return err
		}
		change(order, operator, move)
		if err := tx.SaveMove(ctx, order, entryOf(order, move)); err != nil {
			return err
		}
		if err := s.announce(ctx, tx, operator, order.ID, move); err != nil {
			return err
		}
		result.Deliveries, err = refsOf(ctx, tx, order.ID, &move.Seq)
		return err
	})
	return &result, err
}

// alreadyMoved tells this run's own earlier try, whose answer was lost, from another run's move.
func (s *Service) alreadyMoved(ctx context.Context, tx *db.DB, order *models.Order, move workflows.MoveOrder, result *workflows.MoveResult) error {
	entry, err := tx.MoveEntry(ctx, order.ID, move.Seq)
	if err == nil && entry.ID == move.EntryID {
		result.Deliveries, err = refsOf(ctx, tx, order.ID, &move.Seq)
		return err
	}
	if err != nil && !db.IsNotFound(err) {
		return err
	}
	result.Current, err = s.snapshot(ctx, tx, order)
	return err
}

// check looks at what only the database knows; the edges have checked it too, but a signal comes from a person's hand.
func check(ctx context.Context, tx *db.DB, operator *models.Operator, move workflows.MoveOrder) (refused string, err error) {
	if move.Assigned != nil {
		_, err = tx.RiderOf(ctx, operator.ID, move.Assigned.RiderID)
		refused = "El motorizado no existe o no está activo."
	}
	if move.Received != nil && move.Received.BranchID != nil {
		_, err = tx.BranchOf(ctx, operator.ID, *move.Received.BranchID)
		refused = "La sucursal no existe o no está activa."
	}
	switch {
	case db.IsNotFound(err):
		return refused, nil
	case err != nil:
		return "", err
	}
	return "", nil
}

// change makes the move on the row.
func change(order *models.Order, operator *models.Operator, move workflows.MoveOrder) {
	at := move.At
	order.Status, order.Seq, order.UpdatedAt = move.To, move.Seq, at
	if move.Move != models.MoveAutoCancel {
		// Whether the workflow keeps what it has decided is known once its answer is there. The timer needs no answer: it is in the history.
		order.WorkflowStartedAt = nil
	}
	switch move.Move {
	case models.MoveReceive:
		order.ReceivedAt = &at
		order.OperativeDay = operativeDay(at, operator)
		if move.Received.BranchID != nil {
			order.BranchID = *move.Received.BranchID
		}
		// A revived order is not cancelled any more; the timeline keeps the story.
		order.CancelledBy, order.CancelReason, order.CancelNote, order.CancelledAt = nil, nil, nil, nil
	case models.MoveAssign:
		order.AssignedAt = &at
		order.RiderID = &move.Assigned.RiderID
	case models.MoveDeliver:
		order.DeliveredAt = &at
		order.ActualAmountCollected = move.Delivered.ActualAmountCollected
		if move.Delivered.Photo != "" {
			order.ProofPhoto = &move.Delivered.Photo
			order.ProofCapturedAt = move.Delivered.CapturedAt
			order.ProofLat, order.ProofLng = move.Delivered.Lat, move.Delivered.Lng
		}
	case models.MoveCancel, models.MoveAutoCancel:
		order.CancelledAt = &at
		by := move.By
		order.CancelledBy = &by
		if move.Cancel != nil {
			order.CancelReason, order.CancelNote = textOrNull(move.Cancel.Reason), textOrNull(move.Cancel.Note)
		}
	}
}

// announce writes the outbox rows of the move's event, if it has one.
func (s *Service) announce(ctx context.Context, tx *db.DB, operator *models.Operator, orderID uuid.UUID, move workflows.MoveOrder) error {
	event, emits := move.Move.Event()
	if !emits {
		return nil
	}
	webhooks, err := tx.ActiveWebhooks(ctx, db.WebhookScope{OperatorID: operator.ID})
	if err != nil || len(webhooks) == 0 {
		return err
	}
	// Read again with the rider's name, in the same transaction.
	view, err := tx.OrderViewByID(ctx, orderID)
	if err != nil {
		return err
	}
	deliveries, err := s.deliveriesOf(event, view, wanting(webhooks, event, view.StoreID), operator.ShareProofLocation, move.At)
	if err != nil {
		return err
	}
	return tx.InsertDeliveries(ctx, deliveries)
}

func entryOf(order *models.Order, move workflows.MoveOrder) *models.OrderEvent {
	seq := move.Seq
	return &models.OrderEvent{
		ID: move.EntryID, OrderID: order.ID, Seq: &seq, Type: entryType(move.Move),
		Status: order.Status, By: string(move.By), Detail: entryDetail(move), At: move.At,
	}
}

// entryType is how a move is called in the timeline.
func entryType(move models.Move) string {
	if move == models.MoveCancel || move == models.MoveAutoCancel {
		return string(models.StatusCancelled)
	}
	return string(move)
}

func entryDetail(move workflows.MoveOrder) *string {
	if move.Cancel == nil {
		return nil
	}
	return textOrNull(move.Cancel.Reason)
}

func refsOf(ctx context.Context, database *db.DB, orderID uuid.UUID, seq *int) ([]workflows.DeliveryRef, error) {
	targets, err := database.PendingDeliveries(ctx, orderID, seq)
	if err != nil {
		return nil, err
	}
	var refs []workflows.DeliveryRef
	for _, target := range targets {
		refs = append(refs, webhooks.Ref(target))
	}
	return refs, nil
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// SetPoint is the operator completing where the customer is.
func (s *Service) SetPoint(ctx context.Context, caller Caller, id uuid.UUID, lat, lng float64) (*View, error) {
	if _, err := s.find(ctx, caller, id); err != nil {
		return nil, err
	}
	if _, err := s.db.SetPoint(ctx, id, lat, lng, models.PointByOperator, false, s.clock.Now()); err != nil {
		return nil, err
	}
	return s.Get(ctx, caller, id)
}

// Overdue is how long after its time something is taken to have fallen through.
const Overdue = 2 * time.Minute

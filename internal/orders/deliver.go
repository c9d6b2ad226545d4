package orders

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// Deliver marks the order delivered. Cash on delivery requires the amount collected; a photo is
// optional. With an expected version it returns ErrOrderChanged if the order has moved since:
// otherwise the delivery and the cash could be recorded for a rider the sender has not seen.
func (s *Service) Deliver(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object, photo []byte) (*View, error) {
	delivered := models.Message{
		Move: models.MoveDeliver, ActualAmountCollected: in.Money("actual_amount_collected"), CapturedAt: in.Time("captured_at"),
		ExpectedSeq: in.Int(ExpectedVersion),
	}
	if by := in.Lines("received_by", models.MaxReceivedBy); by != nil {
		delivered.ReceivedBy = *by
	}
	readCollected(in, caller.Operator.Rules, &delivered)
	delivered.Lat, delivered.Lng = readPoint(in, "lat", "lng")
	if err := in.Err(); err != nil {
		return nil, err
	}
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if lacksAmount(&order.Order, delivered.ActualAmountCollected) {
		return nil, errAmountRequired
	}
	return s.moveWithPhoto(ctx, caller, order, delivered, photo)
}

const amountRequired = "es obligatorio cuando el pedido es contra entrega"

var errAmountRequired = fieldError("actual_amount_collected", amountRequired)

// lacksAmount reports whether a delivery that the order's status allows does not say what was
// collected, although the order is cash on delivery.
func lacksAmount(order *models.Order, collected *money.Cents) bool {
	return order.Status == models.StatusAssigned && order.PaymentType == models.CashOnDelivery && collected == nil
}

// HoldPhoto stores a photo for the delivery of an order, before it is made. If it is never made,
// the photo is removed like every photo that no delivery refers to.
func (s *Service) HoldPhoto(ctx context.Context, caller Caller, id uuid.UUID, photo []byte) (name string, err error) {
	order, err := s.Find(ctx, caller, id)
	if err == nil {
		err = requireMove(caller, order, models.MoveDeliver)
	}
	if err != nil {
		return "", err
	}
	return s.storePhoto(ctx, caller, id, photo)
}

// HeldPhoto reads a photo that HoldPhoto has stored.
func (s *Service) HeldPhoto(ctx context.Context, name string) ([]byte, error) {
	file, err := s.options.Photos.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// DropHeldPhoto removes a photo that HoldPhoto has stored, once its delivery has a copy of its own.
func (s *Service) DropHeldPhoto(ctx context.Context, name string) { s.discardPhoto(ctx, name) }

// photoHash makes a repeated delivery with the same photo the same request, although every upload
// is stored under a name of its own.
func photoHash(photo []byte) string {
	if photo == nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(photo))
}

// isDefiniteRefusal reports whether the move was refused for certain, so that its photo can be
// deleted. After an internal or unavailable error the move may have been written, or may still be.
func isDefiniteRefusal(err error) bool {
	if err == nil {
		return false
	}
	kind := apperror.From(err).Kind
	return kind != apperror.Internal && kind != apperror.Unavailable
}

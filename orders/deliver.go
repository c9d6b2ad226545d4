package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/photos"
	"despacho/models"
	"despacho/workflows"
)

// Deliver hands the package over. Cash on delivery needs the amount that was really collected; a
// photo is welcome.
func (s *Service) Deliver(ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object, photo []byte) (*View, error) {
	delivered := workflows.Delivered{ActualAmountCollected: in.Money("actual_amount_collected"), CapturedAt: in.Time("captured_at")}
	delivered.Lat, delivered.Lng = ReadPoint(in, "lat", "lng")
	if err := in.Err(); err != nil {
		return nil, err
	}
	order, err := s.find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if order.PaymentType == models.CashOnDelivery && delivered.ActualAmountCollected == nil && order.Status == models.StatusAssigned {
		return nil, fieldFault("actual_amount_collected", "es obligatorio cuando el pedido es contra entrega")
	}
	if photo != nil {
		if delivered.Photo, err = s.options.Photos.Save(photo); err != nil {
			if errors.Is(err, photos.ErrNotStored) {
				s.log.ErrorContext(ctx, "photo not stored", "order_id", id, "error", err)
			}
			return nil, err
		}
		if delivered.CapturedAt == nil {
			now := s.clock.Now()
			delivered.CapturedAt = &now
		}
	}
	view, err := s.moveFound(ctx, caller, order, models.MoveDeliver, nil, workflows.DeliveredName, delivered)
	if delivered.Photo != "" && surelyRefused(err) {
		s.discardPhoto(ctx, delivered.Photo)
	}
	return view, err
}

// surelyRefused reports whether nobody will ever refer to what a move brought along. After any
// failure of our own somebody may: the move can have been made, or still come through.
func surelyRefused(err error) bool {
	if err == nil {
		return false
	}
	kind := apperror.From(err).Kind
	return kind != apperror.Internal && kind != apperror.Unavailable
}

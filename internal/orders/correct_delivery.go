package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// deliveryCorrection is what was recorded wrongly at a delivery, and why it is corrected.
type deliveryCorrection struct {
	reason string
	// Of the message the amount is nil if it stays, and the photo empty.
	models.Message
}

// CorrectDelivery corrects the amount that was collected at a delivery, by which ways, or its
// photo, on behalf of the operator, who gives a reason. An amount without ways is collected as
// recorded, unless that was in several ways. The audit log keeps the first amount, and the order's
// history the reason and the first photo. No webhook is called. Of an erased order the amount can
// still be corrected, because the cash has to agree with it; the reason is not kept, because people
// write names into it and nothing would erase them any more.
func (s *Service) CorrectDelivery(
	ctx context.Context, caller Caller, id uuid.UUID, in *jsonbody.Object, photo []byte,
) (*View, error) {
	c := deliveryCorrection{reason: in.RequiredLines("reason", models.MaxCancelReason)}
	c.ActualAmountCollected, c.CapturedAt = in.Money("actual_amount_collected"), in.Time("captured_at")
	c.Lat, c.Lng = readPoint(in, "lat", "lng")
	readCollected(in, caller.Operator.Rules, &c.Message)
	if c.ActualAmountCollected == nil && photo == nil {
		in.AddError("actual_amount_collected", "indique el monto correcto, una foto nueva o ambos")
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if err := requireDeliveryCorrectable(order, photo != nil); err != nil {
		return nil, err
	}
	if photo != nil {
		if err := s.savePhoto(ctx, caller, id, photo, &c.Message); err != nil {
			return nil, err
		}
	}
	if err := s.saveDeliveryCorrection(ctx, caller, id, c); err != nil {
		if c.Photo != "" && isDefiniteRefusal(err) {
			s.discardPhoto(ctx, c.Photo)
		}
		return nil, err
	}
	return s.Get(ctx, caller, id)
}

func requireDeliveryCorrectable(order *models.OrderView, hasPhoto bool) error {
	switch {
	case order.Status != models.StatusDelivered:
		return ErrCorrectionRefused.Saying("La entrega no se puede corregir porque el estado del pedido es " +
			order.Status.Label() + ".")
	case hasPhoto && order.ErasedAt != nil:
		return ErrCorrectionRefused.Saying("Los datos del destinatario se eliminaron: el pedido ya no lleva foto.")
	}
	return nil
}

// saveDeliveryCorrection writes the correction, if the order is not erased meanwhile.
func (s *Service) saveDeliveryCorrection(ctx context.Context, caller Caller, id uuid.UUID, c deliveryCorrection) error {
	return s.db.InTx(ctx, func(tx *db.DB) error {
		before, err := lockView(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := requireDeliveryCorrectable(before, c.Photo != ""); err != nil {
			return err
		}
		after := *before
		if err := c.apply(&after.Order); err != nil {
			return err
		}
		changed := corrections(before, &after)
		if len(changed) == 0 {
			return nil
		}
		kept := &c.reason
		if before.ErasedAt != nil {
			kept = nil
		}
		entry := s.correctionEntry(caller, before, models.TimelineDeliveryCorrected, kept)
		after.UpdatedAt = entry.At
		detail := auditedDelivery(changed)
		return saveCorrections(ctx, tx, caller, before, &after, entry, changed, models.AuditEntry{
			OperatorID: before.OperatorID, At: entry.At, Action: models.AuditDeliveryCorrected, SubjectID: &before.ID,
			Detail: &detail,
		})
	})
}

func (c deliveryCorrection) apply(order *models.Order) error {
	switch amount := c.ActualAmountCollected; {
	case len(c.Collections) > 0:
		order.Collections, order.ActualAmountCollected = c.Collections, amount
	case amount == nil || order.ActualAmountCollected != nil && *order.ActualAmountCollected == *amount:
	case len(order.Collections) > 1:
		return fieldError("collections", "se cobró de varias formas: indique cuánto por cada una")
	default:
		if len(order.Collections) == 1 {
			collected := order.Collections[0]
			collected.Amount = *amount
			order.Collections = models.Collections{collected}
		}
		order.ActualAmountCollected = amount
	}
	if c.Photo != "" {
		taken := clock.Normalize(*c.CapturedAt)
		order.ProofPhoto, order.ProofCapturedAt = &c.Photo, &taken
		order.ProofLat, order.ProofLng = c.Lat, c.Lng
	}
	return nil
}

// auditedDelivery is the detail of the audit entry: both amounts, and that the photo is another.
func auditedDelivery(changed []models.Correction) string {
	detail := ""
	for _, c := range changed {
		if detail != "" {
			detail += ", "
		}
		detail += string(c.Field)
		if c.Field == models.CorrectedCollected {
			detail += ": " + shownAmount(c.OldValue) + " -> " + shownAmount(c.NewValue)
		}
	}
	return detail
}

func shownAmount(amount *string) string {
	if amount == nil {
		return "-"
	}
	return *amount
}

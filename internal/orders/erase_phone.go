package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/models"
)

// Erasure is the outcome of an erasure by phone.
type Erasure struct {
	// Erased and Open count the orders that were erased, and those that have not ended.
	Erased int `json:"erased"`
	Open   int `json:"open"`
}

// count counts an order by the outcome of its erasure, and returns the error of one that failed.
func (e *Erasure) count(orderID uuid.UUID, outcome error) error {
	switch {
	case errors.Is(outcome, ErrNotEnded):
		e.Open++
		return nil
	case outcome == nil:
		e.Erased++
		return nil
	}
	return fmt.Errorf("the recipient of order %s was not erased: %w", orderID, outcome)
}

// ErasureOrder is an order that an erasure by phone finds.
type ErasureOrder struct {
	models.Order
	// PhoneOnly means that the order is to another phone since somebody corrected it: it loses the
	// phone and nothing else, also while it is open.
	PhoneOnly bool
	// Waits means that nothing can be erased yet: the order is open, or its events are being sent.
	Waits bool
}

// EraseByPhone erases every ended live order of an operator to a phone in E.164, and the phone in
// those that were to it before a correction. Test orders are erased by ApplyRetention.
func (s *Service) EraseByPhone(ctx context.Context, operator *models.Operator, phone string) (Erasure, error) {
	found, err := s.FindForErasure(ctx, operator, phone)
	if err != nil {
		return Erasure{}, err
	}
	return s.EraseFound(ctx, phone, found)
}

// FindForErasure lists what EraseByPhone would find: first the orders that lose the phone alone,
// each kind by the time of creation.
func (s *Service) FindForErasure(ctx context.Context, operator *models.Operator, phone string) ([]ErasureOrder, error) {
	scope := Caller{Operator: operator}.Scope()
	var corrected, current []models.Order
	err := scope.Orders(s.db.Query(ctx)).Where("orders.recipient_phone <> ?", phone).
		Where("orders.id IN (SELECT order_id FROM order_corrections WHERE field = 'recipient_phone' AND old_value = ?)", phone).
		Order("orders.created_at, orders.id").Find(&corrected).Error
	if err != nil {
		return nil, err
	}
	err = scope.Orders(s.db.Query(ctx)).Where("orders.recipient_phone = ? AND orders.erased_at IS NULL", phone).
		Order("orders.created_at, orders.id").Find(&current).Error
	if err != nil {
		return nil, err
	}
	found := make([]ErasureOrder, 0, len(corrected)+len(current))
	for i, order := range append(corrected, current...) {
		entry := ErasureOrder{Order: order, PhoneOnly: i < len(corrected)}
		if entry.Waits = !entry.PhoneOnly && !order.Status.Ended(); !entry.Waits {
			if entry.Waits, err = s.hasPendingDeliveries(ctx, order.ID); err != nil {
				return nil, err
			}
		}
		found = append(found, entry)
	}
	return found, nil
}

// EraseFound erases what FindForErasure has found, as it was found: an order that has moved since
// is counted as open. An order that fails keeps no other from being erased, unless Temporal or the
// database is unavailable; its error is returned at the end.
func (s *Service) EraseFound(ctx context.Context, phone string, found []ErasureOrder) (outcome Erasure, failed error) {
	for i := range found {
		order := &found[i]
		err := error(ErrNotEnded)
		switch {
		case order.Waits:
		case order.PhoneOnly:
			err = s.eraseCorrectedPhone(ctx, order.ID, phone)
		default:
			err = s.erase(ctx, &order.Order)
		}
		err = outcome.count(order.ID, err)
		if failed = errors.Join(failed, err); IsUnavailable(err) {
			break
		}
	}
	return outcome, failed
}

// eraseCorrectedPhone removes a phone that an order had before from all that was stored meanwhile:
// the corrections, the events and what receivers responded, and the response to the creation. The
// corrections go with the rest or not at all: a repeated request finds the order by them.
func (s *Service) eraseCorrectedPhone(ctx context.Context, orderID uuid.UUID, phone string) error {
	pending, err := s.hasPendingDeliveries(ctx, orderID)
	if err != nil {
		return err
	}
	if pending {
		return ErrNotEnded
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		// An erasure of the order comes before or after: what it removed is not written back.
		if _, err := lockOrder(ctx, tx, orderID); err != nil {
			return err
		}
		for _, column := range []string{"old_value", "new_value"} {
			err := tx.Query(ctx).Model(&models.Correction{}).Where("order_id = ? AND field = 'recipient_phone'", orderID).
				Where(column+" = ?", phone).UpdateColumn(column, nil).Error
			if err != nil {
				return err
			}
		}
		without := func(stored string) string { return withoutPhone(stored, phone) }
		if err := rewriteEventsOf(ctx, tx, orderID, without, nil); err != nil {
			return err
		}
		var records []models.IdempotencyRecord
		if err := tx.Query(ctx).Where("order_id = ?", orderID).Find(&records).Error; err != nil || len(records) == 0 {
			return err
		}
		return replaceResponse(ctx, tx, orderID, []byte(without(string(records[0].Response))))
	})
}

// withoutPhone is the JSON of an order without a phone of the recipient, and with every other byte
// as it is. Within a text the quotes of the member would be escaped.
func withoutPhone(stored, phone string) string {
	const member = `"recipient_phone":"`
	return strings.ReplaceAll(stored, member+phone+`"`, member+models.ErasedPhone+`"`)
}

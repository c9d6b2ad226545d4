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

// EraseByPhone erases every ended live order of an operator to a phone in E.164. An order, also an
// open one, that is to another phone since somebody corrected it loses that phone and nothing else.
// Test orders are erased by ApplyRetention. An order that fails keeps no other from being erased,
// unless Temporal or the database is unavailable; its error is returned at the end.
func (s *Service) EraseByPhone(ctx context.Context, operator *models.Operator, phone string) (Erasure, error) {
	var outcome Erasure
	scope := Caller{Operator: operator}.Scope()
	var corrected []uuid.UUID // to another phone now
	err := scope.Orders(s.db.Query(ctx).Model(&models.Order{})).Where("orders.recipient_phone <> ?", phone).
		Where("orders.id IN (SELECT order_id FROM order_corrections WHERE field = 'recipient_phone' AND old_value = ?)", phone).
		Order("orders.created_at, orders.id").Pluck("orders.id", &corrected).Error
	if err != nil {
		return outcome, err
	}
	var failed error
	for _, id := range corrected {
		err := outcome.count(id, s.eraseCorrectedPhone(ctx, id, phone))
		if failed = errors.Join(failed, err); IsUnavailable(err) {
			return outcome, failed
		}
	}
	var found []models.Order
	err = scope.Orders(s.db.Query(ctx)).Where("orders.recipient_phone = ? AND orders.erased_at IS NULL", phone).
		Order("orders.created_at, orders.id").Find(&found).Error
	if err != nil {
		return outcome, errors.Join(failed, err)
	}
	for i := range found {
		err := outcome.count(found[i].ID, s.erase(ctx, &found[i]))
		if failed = errors.Join(failed, err); IsUnavailable(err) {
			return outcome, failed
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

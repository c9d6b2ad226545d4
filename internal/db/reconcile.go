package db

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// OrderVersion identifies an order at a Seq.
type OrderVersion struct {
	ID  uuid.UUID
	Seq int
}

// MarkWorkflowsStarted records that the workflows of these orders run at the given Seq. An order
// that has moved since is skipped.
func (d *DB) MarkWorkflowsStarted(ctx context.Context, orders []OrderVersion, now time.Time) error {
	pairs := make([][]any, len(orders))
	for i, order := range orders {
		pairs[i] = []any{order.ID, order.Seq}
	}
	return d.with(ctx).Model(&models.Order{}).Where("(id, seq) IN ? AND workflow_started_at IS NULL", pairs).
		UpdateColumn("workflow_started_at", now).Error
}

// OrdersMissingWorkflow lists the orders whose workflow start or latest move is unconfirmed, oldest
// first, after a position. Those that were changed within the grace period are left out. A change
// in the future is one by a clock that was ahead: it does not have to wait for that time.
func (d *DB) OrdersMissingWorkflow(ctx context.Context, now time.Time, grace time.Duration, after Position, limit int) ([]Position, error) {
	var positions []Position
	err := d.with(ctx).Raw(`SELECT id, updated_at AS at FROM orders
		WHERE workflow_started_at IS NULL AND updated_at NOT BETWEEN ? AND ? AND (updated_at, id) > (?, ?) ORDER BY updated_at, id LIMIT ?`,
		now.Add(-grace), now.Add(grace), after.At, after.ID, limit).Scan(&positions).Error
	return positions, err
}

// OverdueOrders lists the registered orders whose auto-cancel time is long past, oldest first,
// after a position.
func (d *DB) OverdueOrders(ctx context.Context, dueBefore time.Time, after Position, limit int) ([]Position, error) {
	var positions []Position
	err := d.with(ctx).Raw(`SELECT id, auto_cancel_at AS at FROM orders
		WHERE status = 'registered' AND auto_cancel_at < ? AND (auto_cancel_at, id) > (?, ?) ORDER BY auto_cancel_at, id LIMIT ?`,
		dueBefore, after.At, after.ID, limit).Scan(&positions).Error
	return positions, err
}

// MissingOrders returns those of the ids that no order has.
func (d *DB) MissingOrders(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var present []uuid.UUID
	if err := d.with(ctx).Model(&models.Order{}).Where("id IN ?", ids).Pluck("id", &present).Error; err != nil {
		return nil, err
	}
	known := make(map[uuid.UUID]bool, len(present))
	for _, id := range present {
		known[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool { return known[id] }), nil
}

// EndedOrders returns the states of those of the ids whose order ended before a time, as its
// workflow has confirmed, and has no event to send.
func (d *DB) EndedOrders(ctx context.Context, ids []uuid.UUID, before time.Time) (map[uuid.UUID]models.State, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var ended []models.Order
	err := d.with(ctx).Select("id, status, cancelled_by, rider_id").
		Where("id IN ? AND status NOT IN ? AND updated_at < ? AND workflow_started_at IS NOT NULL", ids, models.OpenStatuses, before).
		Where("NOT EXISTS (SELECT 1 FROM deliveries WHERE order_id = orders.id AND status = ?)", models.WebhookDeliveryPending).
		Find(&ended).Error
	states := make(map[uuid.UUID]models.State, len(ended))
	for i := range ended {
		states[ended[i].ID] = ended[i].State()
	}
	return states, err
}

// unconfirmAtOnce is the number of orders that one statement of UnconfirmOpenOrders changes. One
// statement for all of them would lock every open order, for minutes if there are many.
const unconfirmAtOnce = 2000

// UnconfirmOpenOrders makes the reconcile workflow look at every open order: it starts the workflow
// of those that have none, and makes the others read their rows. After an error, those that were
// changed before it stay changed, and the next call goes on with the others.
func (d *DB) UnconfirmOpenOrders(ctx context.Context) (count int64, err error) {
	confirmed := func() *gorm.DB {
		return d.with(ctx).Model(&models.Order{}).Where("status IN ? AND workflow_started_at IS NOT NULL", models.OpenStatuses)
	}
	var ids []uuid.UUID
	if err := confirmed().Order("id").Pluck("id", &ids).Error; err != nil {
		return 0, err
	}
	for some := range slices.Chunk(ids, unconfirmAtOnce) {
		result := confirmed().Where("id IN ?", some).UpdateColumn("workflow_started_at", nil)
		if result.Error != nil {
			return count, result.Error
		}
		count += result.RowsAffected
	}
	return count, nil
}

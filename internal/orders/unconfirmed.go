package orders

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
)

// orderVersion identifies an order at a Seq.
type orderVersion struct {
	id  uuid.UUID
	seq int
}

// markWorkflowsStarted records that the workflows of these orders run at the given Seq. An order
// that has moved since is skipped.
func markWorkflowsStarted(ctx context.Context, database *db.DB, orders []orderVersion, now time.Time) error {
	pairs := make([][]any, len(orders))
	for i, order := range orders {
		pairs[i] = []any{order.id, order.seq}
	}
	return database.Query(ctx).Model(&models.Order{}).Where("(id, seq) IN ? AND workflow_started_at IS NULL", pairs).
		UpdateColumn("workflow_started_at", now).Error
}

// Unconfirmed lists the orders whose workflow start or latest move is unconfirmed, oldest first,
// after a position. Those that were changed within StartGracePeriod are left out. A change in the
// future is one by a clock that was ahead: it does not have to wait for that time.
func (s *Service) Unconfirmed(ctx context.Context, after db.Position, limit int) ([]db.Position, error) {
	now := s.clock.Now()
	var positions []db.Position
	err := s.db.Query(ctx).Raw(`SELECT id, updated_at AS at FROM orders
		WHERE workflow_started_at IS NULL AND updated_at NOT BETWEEN ? AND ? AND (updated_at, id) > (?, ?) ORDER BY updated_at, id LIMIT ?`,
		now.Add(-StartGracePeriod), now.Add(StartGracePeriod), after.At, after.ID, limit).Scan(&positions).Error
	return positions, err
}

// Overdue lists the registered orders whose auto-cancel time was more than OverdueAfter ago, oldest
// first, after a position.
func (s *Service) Overdue(ctx context.Context, after db.Position, limit int) ([]db.Position, error) {
	var positions []db.Position
	err := s.db.Query(ctx).Raw(`SELECT id, auto_cancel_at AS at FROM orders
		WHERE status = 'registered' AND auto_cancel_at < ? AND (auto_cancel_at, id) > (?, ?) ORDER BY auto_cancel_at, id LIMIT ?`,
		s.clock.Now().Add(-OverdueAfter), after.At, after.ID, limit).Scan(&positions).Error
	return positions, err
}

// unconfirmAtOnce is the number of orders that one statement of UnconfirmOpenOrders changes. One
// statement for all of them would lock every open order, for minutes if there are many.
const unconfirmAtOnce = 2000

// UnconfirmOpenOrders makes the reconcile workflow look at every open order: it starts the workflow
// of those that have none, and makes the others read their rows. After an error, those that were
// changed before it stay changed, and the next call goes on with the others.
func (s *Service) UnconfirmOpenOrders(ctx context.Context) (count int64, err error) {
	confirmed := func() *gorm.DB {
		return s.db.Query(ctx).Model(&models.Order{}).Where("status IN ? AND workflow_started_at IS NOT NULL",
			models.OpenStatuses)
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

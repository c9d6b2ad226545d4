package db

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"despacho/models"
)

// maxBatchRows is the number of rows that one statement inserts or reads: SQLite takes 32,766
// parameters in a statement, PostgreSQL twice as many, and a delivery has fifteen.
const maxBatchRows = 500

// InsertDeliveries inserts the outbox rows of an event; existing rows are kept.
func (d *DB) InsertDeliveries(ctx context.Context, deliveries []models.WebhookDelivery) error {
	for some := range slices.Chunk(deliveries, maxBatchRows) {
		if err := d.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&some).Error; err != nil {
			return err
		}
	}
	return nil
}

// DeliveryTarget is a delivery with its webhook's URL.
type DeliveryTarget struct {
	ID         uuid.UUID
	WebhookID  uuid.UUID
	OperatorID uuid.UUID
	Event      models.Event
	URL        string `gorm:"column:url"`
	Retry      bool
	// OrderID is nil for a test event.
	OrderID *uuid.UUID
	// NextAttemptAt is nil once the delivery has ended.
	NextAttemptAt *time.Time
}

func (d *DB) deliveryTargets(ctx context.Context) *gorm.DB {
	return d.with(ctx).Table("deliveries").
		Select("deliveries.id, deliveries.webhook_id, deliveries.operator_id, deliveries.event, deliveries.order_id, deliveries.next_attempt_at, webhooks.url, webhooks.retry").
		Joins("JOIN webhooks ON webhooks.id = deliveries.webhook_id")
}

// PendingDeliveries lists the pending deliveries of an order that its workflow sends, oldest first;
// with a seq, only those of that move.
func (d *DB) PendingDeliveries(ctx context.Context, orderID uuid.UUID, seq *int, limit int) ([]DeliveryTarget, error) {
	query := d.deliveryTargets(ctx).
		Where("deliveries.order_id = ? AND deliveries.status = ? AND NOT deliveries.queued", orderID, models.WebhookDeliveryPending)
	if seq != nil {
		query = query.Where("deliveries.order_seq = ?", *seq)
	}
	var targets []DeliveryTarget
	err := query.Order("deliveries.order_seq, deliveries.id").Limit(limit).Scan(&targets).Error
	return targets, err
}

// AbandonedDeliveries lists the deliveries whose next attempt is long overdue, oldest first, after
// a position, and those whose next attempt is later than any can be: a clock was ahead when it was
// set. Those of an order whose workflow is not confirmed yet are left to that workflow, queued ones
// to the workers.
func (d *DB) AbandonedDeliveries(ctx context.Context, dueBefore, latest time.Time, after Position, limit int) ([]DeliveryTarget, error) {
	var targets []DeliveryTarget
	err := d.deliveryTargets(ctx).
		Where("deliveries.status = ? AND NOT deliveries.queued AND (deliveries.next_attempt_at < ? OR deliveries.next_attempt_at > ?)", models.WebhookDeliveryPending, dueBefore, latest).
		Where("NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = deliveries.order_id AND orders.workflow_started_at IS NULL)").
		Where("(deliveries.next_attempt_at, deliveries.id) > (?, ?)", after.At, after.ID).
		Order("deliveries.next_attempt_at, deliveries.id").Limit(limit).Scan(&targets).Error
	return targets, err
}

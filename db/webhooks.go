package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"despacho/models"
)

// WebhookScope is what a caller may see: all of an operator's webhooks, or those of one store.
type WebhookScope = OrderScope

// webhooksIn queries the webhooks that the scope may see.
func (d *DB) webhooksIn(ctx context.Context, scope WebhookScope) *gorm.DB {
	query := d.with(ctx).Model(&models.Webhook{}).Where("operator_id = ?", scope.OperatorID)
	if scope.StoreID != nil {
		query = query.Where("store_id = ?", *scope.StoreID)
	}
	return query
}

// ActiveWebhooks lists active webhooks, oldest first.
func (d *DB) ActiveWebhooks(ctx context.Context, scope WebhookScope) ([]models.Webhook, error) {
	var webhooks []models.Webhook
	err := d.webhooksIn(ctx, scope).Where("active").Order("created_at, id").Find(&webhooks).Error
	return webhooks, err
}

// AllWebhooks lists a scope's webhooks, active ones first, then newest first.
func (d *DB) AllWebhooks(ctx context.Context, scope WebhookScope, limit int) ([]models.Webhook, error) {
	var webhooks []models.Webhook
	err := d.webhooksIn(ctx, scope).Order("active DESC, created_at DESC, id DESC").Limit(limit).Find(&webhooks).Error
	return webhooks, err
}

// DeactivateWebhook deactivates a webhook. It returns ErrNotFound for one that the scope may not
// see or that is already inactive.
func (d *DB) DeactivateWebhook(ctx context.Context, scope WebhookScope, id uuid.UUID, reason string, now time.Time) error {
	return d.ChangeSettings(ctx, scope.OperatorID, func(tx *DB) error {
		return requireOneRow(tx.webhooksIn(ctx, scope).Where("id = ? AND active", id).
			Updates(map[string]any{"active": false, "deactivated_at": now, "deactivated_reason": reason}))
	})
}

// WebhookIn finds a webhook that the scope may see, active or not.
func (d *DB) WebhookIn(ctx context.Context, scope WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := d.webhooksIn(ctx, scope).Where("id = ?", id).Take(&webhook).Error
	return &webhook, err
}

// Webhook finds one webhook of any owner, for the worker.
func (d *DB) Webhook(ctx context.Context, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := d.with(ctx).Where("id = ?", id).Take(&webhook).Error
	return &webhook, err
}

// InsertDeliveries inserts the outbox rows of a move; existing rows are kept.
func (d *DB) InsertDeliveries(ctx context.Context, deliveries []models.WebhookDelivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	return d.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&deliveries).Error
}

// DeliveryTarget is a delivery with its webhook's URL.
type DeliveryTarget struct {
	ID        uuid.UUID
	WebhookID uuid.UUID
	Event     models.Event
	URL       string `gorm:"column:url"`
	Retry     bool
	// OrderID is nil for a test event.
	OrderID *uuid.UUID
	// NextAttemptAt is nil once the delivery has ended.
	NextAttemptAt *time.Time
}

func (d *DB) deliveryTargets(ctx context.Context) *gorm.DB {
	return d.with(ctx).Table("deliveries").
		Select("deliveries.id, deliveries.webhook_id, deliveries.event, deliveries.order_id, deliveries.next_attempt_at, webhooks.url, webhooks.retry").
		Joins("JOIN webhooks ON webhooks.id = deliveries.webhook_id")
}

// PendingDeliveries lists the pending deliveries of an order, oldest first; with a seq, only those of
// that move.
func (d *DB) PendingDeliveries(ctx context.Context, orderID uuid.UUID, seq *int, limit int) ([]DeliveryTarget, error) {
	query := d.deliveryTargets(ctx).
		Where("deliveries.order_id = ? AND deliveries.status = ?", orderID, models.WebhookDeliveryPending)
	if seq != nil {
		query = query.Where("deliveries.order_seq = ?", *seq)
	}
	var targets []DeliveryTarget
	err := query.Order("deliveries.order_seq, deliveries.id").Limit(limit).Scan(&targets).Error
	return targets, err
}

// AbandonedDeliveries lists the deliveries whose next attempt is long overdue, oldest first, after a
// position. Those of an order whose workflow is not confirmed yet are left to that workflow.
func (d *DB) AbandonedDeliveries(ctx context.Context, dueBefore time.Time, after Position, limit int) ([]DeliveryTarget, error) {
	var targets []DeliveryTarget
	err := d.deliveryTargets(ctx).
		Where("deliveries.status = ? AND deliveries.next_attempt_at < ?", models.WebhookDeliveryPending, dueBefore).
		Where("NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = deliveries.order_id AND orders.workflow_started_at IS NULL)").
		Where("(deliveries.next_attempt_at, deliveries.id) > (?, ?)", after.At, after.ID).
		Order("deliveries.next_attempt_at, deliveries.id").Limit(limit).Scan(&targets).Error
	return targets, err
}

// LockDelivery reads a delivery and its attempts and locks the delivery until the transaction ends.
func (d *DB) LockDelivery(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	return d.delivery(ctx, id, d.forUpdate(ctx))
}

// StartAttempt inserts an attempt before its request is sent.
func (d *DB) StartAttempt(ctx context.Context, attempt *models.WebhookAttempt) error {
	return d.with(ctx).Create(attempt).Error
}

// FinishAttempt writes the outcome of an attempt.
func (d *DB) FinishAttempt(ctx context.Context, attempt *models.WebhookAttempt) error {
	return d.with(ctx).Save(attempt).Error
}

// SaveDelivery writes the status of a delivery.
func (d *DB) SaveDelivery(ctx context.Context, delivery *models.WebhookDelivery) error {
	return d.with(ctx).Model(delivery).Where("id = ?", delivery.ID).
		Select("status", "next_attempt_at", "finished_at").Updates(delivery).Error
}

// Delivery reads a delivery and its attempts, oldest first.
func (d *DB) Delivery(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	return d.delivery(ctx, id, d.with(ctx))
}

func (d *DB) delivery(ctx context.Context, id uuid.UUID, query *gorm.DB) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	var delivery models.WebhookDelivery
	if err := query.Where("id = ?", id).Take(&delivery).Error; err != nil {
		return nil, nil, err
	}
	var attempts []models.WebhookAttempt
	err := d.with(ctx).Where("delivery_id = ?", id).Order("number").Find(&attempts).Error
	return &delivery, attempts, err
}

// CountActiveWebhooks counts the active webhooks of the operator itself, or of one of its stores.
func (d *DB) CountActiveWebhooks(ctx context.Context, operatorID uuid.UUID, storeID *uuid.UUID) (int64, error) {
	query := d.with(ctx).Model(&models.Webhook{}).Where("operator_id = ? AND active", operatorID)
	if storeID == nil {
		query = query.Where("store_id IS NULL")
	} else {
		query = query.Where("store_id = ?", *storeID)
	}
	var count int64
	err := query.Count(&count).Error
	return count, err
}

// WebhooksAfter lists the webhooks of every operator that follow an id, by id.
func (d *DB) WebhooksAfter(ctx context.Context, after uuid.UUID, limit int) ([]models.Webhook, error) {
	var webhooks []models.Webhook
	err := d.with(ctx).Where("id > ?", after).Order("id").Limit(limit).Find(&webhooks).Error
	return webhooks, err
}

// WebhooksByURL lists every webhook with a URL, active or not.
func (d *DB) WebhooksByURL(ctx context.Context, address string) ([]models.Webhook, error) {
	var webhooks []models.Webhook
	err := d.with(ctx).Where("url = ?", address).Find(&webhooks).Error
	return webhooks, err
}

// SetWebhookURL changes a webhook's URL.
func (d *DB) SetWebhookURL(ctx context.Context, operatorID, id uuid.UUID, address string) error {
	return d.ChangeSettings(ctx, operatorID, func(tx *DB) error {
		return requireOneRow(tx.with(ctx).Model(&models.Webhook{}).Where("id = ?", id).Update("url", address))
	})
}

// ActiveWebhook finds an active webhook that the scope may see.
func (d *DB) ActiveWebhook(ctx context.Context, scope WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := d.webhooksIn(ctx, scope).Where("id = ? AND active", id).Take(&webhook).Error
	return &webhook, err
}

// SaveSecrets writes a webhook's current and previous secret.
func (d *DB) SaveSecrets(ctx context.Context, webhook *models.Webhook) error {
	return requireOneRow(d.with(ctx).Model(&models.Webhook{}).Where("id = ?", webhook.ID).
		Select("secret", "previous_secret", "previous_secret_until").Updates(webhook))
}

// SetFailingSince writes since when every delivery to a webhook has failed; nil after a success.
func (d *DB) SetFailingSince(ctx context.Context, id uuid.UUID, since *time.Time) error {
	return d.with(ctx).Model(&models.Webhook{}).Where("id = ?", id).UpdateColumn("failing_since", since).Error
}

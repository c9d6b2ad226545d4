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

// WebhookScope is what a caller may see and change: all of an operator's webhooks of one mode, or
// those of them that one of its stores registered.
type WebhookScope = OrderScope

// webhooksIn queries the webhooks of the scope. An operator's webhook that is limited to a store is
// not the store's.
func (d *DB) webhooksIn(ctx context.Context, scope WebhookScope) *gorm.DB {
	query := scope.owned(d.with(ctx).Model(&models.Webhook{}), "webhooks")
	if scope.StoreID != nil {
		query = query.Where("owner_store_id = ?", *scope.StoreID)
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

// LockWebhook reads a webhook of any owner and locks it until the transaction ends.
func (d *DB) LockWebhook(ctx context.Context, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := d.forUpdate(ctx).Where("id = ?", id).Take(&webhook).Error
	return &webhook, err
}

// insertAtOnce is the number of deliveries that one statement inserts: SQLite takes 32,766
// parameters in a statement, PostgreSQL twice as many, and a delivery has fifteen.
const insertAtOnce = 500

// LastEvents returns when each of the webhooks last had an event to send.
func (d *DB) LastEvents(ctx context.Context, webhooks []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	last := map[uuid.UUID]time.Time{}
	if len(webhooks) == 0 {
		return last, nil
	}
	var rows []struct {
		WebhookID uuid.UUID
		CreatedAt time.Time
	}
	err := d.with(ctx).Table("webhooks").Select("webhooks.id AS webhook_id, deliveries.created_at").
		Joins("JOIN deliveries ON deliveries.id = (SELECT id FROM deliveries WHERE webhook_id = webhooks.id ORDER BY created_at DESC LIMIT 1)").
		Where("webhooks.id IN ?", webhooks).Scan(&rows).Error
	for _, row := range rows {
		last[row.WebhookID] = row.CreatedAt
	}
	return last, err
}

// InsertDeliveries inserts the outbox rows of an event; existing rows are kept.
func (d *DB) InsertDeliveries(ctx context.Context, deliveries []models.WebhookDelivery) error {
	for some := range slices.Chunk(deliveries, insertAtOnce) {
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

// LockDelivery reads a delivery and its attempts and locks the delivery until the transaction ends.
func (d *DB) LockDelivery(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	return d.delivery(ctx, id, d.forUpdate(ctx))
}

// LockDeliveryWithoutAttempts reads a delivery alone and locks it until the transaction ends.
func (d *DB) LockDeliveryWithoutAttempts(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, error) {
	return deliveryAlone(d.forUpdate(ctx), id)
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
		Select("status", "next_attempt_at", "queued", "finished_at").Updates(delivery).Error
}

// DeliveryWithoutAttempts reads a delivery alone.
func (d *DB) DeliveryWithoutAttempts(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, error) {
	return deliveryAlone(d.with(ctx), id)
}

func deliveryAlone(query *gorm.DB, id uuid.UUID) (*models.WebhookDelivery, error) {
	var delivery models.WebhookDelivery
	err := query.Where("id = ?", id).Take(&delivery).Error
	return &delivery, err
}

// Delivery reads a delivery and its attempts, oldest first.
func (d *DB) Delivery(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	return d.delivery(ctx, id, d.with(ctx))
}

func (d *DB) delivery(ctx context.Context, id uuid.UUID, query *gorm.DB) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	delivery, err := deliveryAlone(query, id)
	if err != nil {
		return nil, nil, err
	}
	var attempts []models.WebhookAttempt
	err = d.with(ctx).Where("delivery_id = ?", id).Order("number").Find(&attempts).Error
	return delivery, attempts, err
}

// CountActiveWebhooks counts the active webhooks with the owner, the store and the mode of the
// given one.
func (d *DB) CountActiveWebhooks(ctx context.Context, like *models.Webhook) (count int64, err error) {
	err = d.with(ctx).Model(&models.Webhook{}).Where("operator_id = ? AND test = ? AND active", like.OperatorID, like.Test).
		Where(map[string]any{"store_id": like.StoreID, "owner_store_id": like.OwnerStoreID}).Count(&count).Error
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

// SaveWebhook writes what the owner of a webhook can change. With another URL its circuit is
// closed: the failures were those of another receiver.
func (d *DB) SaveWebhook(ctx context.Context, webhook *models.Webhook, otherURL bool) error {
	columns := []any{"events", "retry", "paused_at"}
	if otherURL {
		webhook.FailingSince, webhook.ConsecutiveFailures, webhook.CircuitOpenedAt, webhook.NextProbeAt, webhook.ProbingUntil = nil, 0, nil, nil, nil
		columns = append(columns, "failing_since", "consecutive_failures", "circuit_opened_at", "next_probe_at", "probing_until")
	}
	return requireOneRow(d.with(ctx).Model(&models.Webhook{}).Where("id = ?", webhook.ID).Select("url", columns...).UpdateColumns(webhook))
}

// ActiveWebhook finds an active webhook that the scope may see.
func (d *DB) ActiveWebhook(ctx context.Context, scope WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := d.webhooksIn(ctx, scope).Where("id = ? AND active", id).Take(&webhook).Error
	return &webhook, err
}

// SaveSecrets writes a webhook's current and earlier secrets.
func (d *DB) SaveSecrets(ctx context.Context, webhook *models.Webhook) error {
	return requireOneRow(d.with(ctx).Model(&models.Webhook{}).Where("id = ?", webhook.ID).
		Select("secret", "previous_secret", "previous_secret_until", "older_secrets").Updates(webhook))
}

// CountFailure counts a failed attempt at a webhook and returns the webhook, locked until the
// transaction ends.
func (d *DB) CountFailure(ctx context.Context, id uuid.UUID, now time.Time) (*models.Webhook, error) {
	err := d.with(ctx).Model(&models.Webhook{}).Where("id = ?", id).UpdateColumns(map[string]any{
		"consecutive_failures": gorm.Expr("consecutive_failures + 1"), "failing_since": gorm.Expr("COALESCE(failing_since, ?)", now),
	}).Error
	if err != nil {
		return nil, err
	}
	return d.Webhook(ctx, id)
}

// SaveCircuit writes that a webhook's circuit is open, and when it is probed.
func (d *DB) SaveCircuit(ctx context.Context, webhook *models.Webhook) error {
	return d.with(ctx).Model(&models.Webhook{}).Where("id = ?", webhook.ID).
		Select("circuit_opened_at", "next_probe_at", "probing_until").UpdateColumns(webhook).Error
}

// ClaimProbe marks an open circuit as being probed until a time, if a probe is due and nobody is
// probing.
func (d *DB) ClaimProbe(ctx context.Context, id uuid.UUID, now, until time.Time) (claimed bool, err error) {
	result := d.with(ctx).Model(&models.Webhook{}).
		Where("id = ? AND next_probe_at <= ? AND (probing_until IS NULL OR probing_until <= ?)", id, now, now).
		UpdateColumn("probing_until", until)
	return result.RowsAffected > 0, result.Error
}

// MarkProbing marks a circuit, if it is open, as being probed until a time.
func (d *DB) MarkProbing(ctx context.Context, id uuid.UUID, until time.Time) error {
	return d.with(ctx).Model(&models.Webhook{}).Where("id = ? AND circuit_opened_at IS NOT NULL", id).
		UpdateColumn("probing_until", until).Error
}

// CloseCircuit writes that a webhook's receiver has accepted an event.
func (d *DB) CloseCircuit(ctx context.Context, id uuid.UUID) error {
	return d.with(ctx).Model(&models.Webhook{}).Where("id = ?", id).UpdateColumns(map[string]any{
		"failing_since": nil, "consecutive_failures": 0, "circuit_opened_at": nil, "next_probe_at": nil, "probing_until": nil,
	}).Error
}

package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

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

// SaveWebhook writes what the owner of a webhook can change. If it has another URL than before, or
// is resumed, its circuit is closed: the failures were those of another receiver, or of one that
// its owner has looked after since.
func (d *DB) SaveWebhook(ctx context.Context, before, webhook *models.Webhook) error {
	columns := []any{"events", "retry", "paused_at"}
	if webhook.URL != before.URL || before.PausedAt != nil && webhook.PausedAt == nil {
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

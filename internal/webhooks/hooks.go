package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
)

// hooksIn queries the webhooks of the scope. An operator's webhook that is limited to a store is
// not the store's.
func hooksIn(ctx context.Context, database *db.DB, scope db.WebhookScope) *gorm.DB {
	query := scope.Owned(database.Query(ctx).Model(&models.Webhook{}), "webhooks")
	if scope.StoreID != nil {
		query = query.Where("owner_store_id = ?", *scope.StoreID)
	}
	return query
}

// Active lists active webhooks, oldest first.
func Active(ctx context.Context, database *db.DB, scope db.WebhookScope) ([]models.Webhook, error) {
	var webhooks []models.Webhook
	err := hooksIn(ctx, database, scope).Where("active").Order("created_at, id").Find(&webhooks).Error
	return webhooks, err
}

// failedLately is how long a webhook counts as failing that was deactivated because it failed.
const failedLately = 24 * time.Hour

// Failing lists a scope's webhooks whose last attempt failed, and those that were deactivated
// lately because all did, newest first.
func Failing(ctx context.Context, database *db.DB, scope db.WebhookScope, now time.Time) ([]models.Webhook, error) {
	var webhooks []models.Webhook
	err := hooksIn(ctx, database, scope).Where("active AND paused_at IS NULL AND failing_since IS NOT NULL OR "+
		"NOT active AND deactivated_at > ? AND deactivated_reason IN ?", now.Add(-failedLately), []string{textGone, textFailing}).
		Order("created_at DESC, id DESC").Find(&webhooks).Error
	return webhooks, err
}

// allHooks lists a scope's webhooks, active ones first, then newest first.
func allHooks(ctx context.Context, database *db.DB, scope db.WebhookScope, limit int) ([]models.Webhook, error) {
	var webhooks []models.Webhook
	err := hooksIn(ctx, database, scope).Order("active DESC, created_at DESC, id DESC").Limit(limit).Find(&webhooks).Error
	return webhooks, err
}

// deactivateHook deactivates a webhook. It returns db.ErrNotFound for one that the scope may not
// see or that is already inactive.
func deactivateHook(
	ctx context.Context, database *db.DB, scope db.WebhookScope, id uuid.UUID, reason string, now time.Time,
) error {
	return database.ChangeSettings(ctx, scope.OperatorID, func(tx *db.DB) error {
		return db.RequireOneRow(hooksIn(ctx, tx, scope).Where("id = ? AND active", id).
			Updates(map[string]any{"active": false, "deactivated_at": now, "deactivated_reason": reason}))
	})
}

// hookIn finds a webhook that the scope may see, active or not.
func hookIn(ctx context.Context, database *db.DB, scope db.WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := hooksIn(ctx, database, scope).Where("id = ?", id).Take(&webhook).Error
	return &webhook, err
}

// readHook finds one webhook of any owner, for the worker.
func readHook(ctx context.Context, database *db.DB, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := database.Query(ctx).Where("id = ?", id).Take(&webhook).Error
	return &webhook, err
}

// hookToCall is readHook with whether the webhook is open for calls: that of a store is not while
// the store is closed, which reads nothing then.
func hookToCall(ctx context.Context, database *db.DB, id uuid.UUID) (hook *models.Webhook, open bool, err error) {
	var row struct {
		models.Webhook
		Open bool
	}
	err = db.RequireOneRow(database.Query(ctx).Table("webhooks").Select("webhooks.*, COALESCE(stores.active, TRUE) AS open").
		Joins("LEFT JOIN stores ON stores.id = webhooks.owner_store_id").Where("webhooks.id = ?", id).Scan(&row))
	return &row.Webhook, row.Open, err
}

// lockHook reads a webhook of any owner and locks it until the transaction ends.
func lockHook(ctx context.Context, database *db.DB, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := database.QueryForUpdate(ctx).Where("id = ?", id).Take(&webhook).Error
	return &webhook, err
}

// LastEvents returns when each of the webhooks last had an event to send.
func LastEvents(ctx context.Context, database *db.DB, webhooks []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	last := map[uuid.UUID]time.Time{}
	if len(webhooks) == 0 {
		return last, nil
	}
	var rows []struct {
		WebhookID uuid.UUID
		CreatedAt time.Time
	}
	err := database.Query(ctx).Table("webhooks").Select("webhooks.id AS webhook_id, deliveries.created_at").
		Joins("JOIN deliveries ON deliveries.id = ("+
			"SELECT id FROM deliveries WHERE webhook_id = webhooks.id ORDER BY created_at DESC LIMIT 1)").
		Where("webhooks.id IN ?", webhooks).Scan(&rows).Error
	for _, row := range rows {
		last[row.WebhookID] = row.CreatedAt
	}
	return last, err
}

// countHooksLike counts the active webhooks with the owner, the store and the mode of the
// given one.
func countHooksLike(ctx context.Context, database *db.DB, like *models.Webhook) (count int64, err error) {
	err = database.Query(ctx).Model(&models.Webhook{}).Where("operator_id = ? AND test = ? AND active", like.OperatorID,
		like.Test).
		Where(map[string]any{"store_id": like.StoreID, "owner_store_id": like.OwnerStoreID}).Count(&count).Error
	return count, err
}

// saveHook writes what the owner of a webhook can change. If it has another URL than before, or
// is resumed, its circuit is closed: the failures were those of another receiver, or of one that
// its owner has looked after since.
func saveHook(ctx context.Context, database *db.DB, before, webhook *models.Webhook) error {
	columns := []any{"events", "retry", "paused_at"}
	if webhook.URL != before.URL || before.PausedAt != nil && webhook.PausedAt == nil {
		webhook.FailingSince, webhook.ConsecutiveFailures, webhook.CircuitOpenedAt, webhook.NextProbeAt,
			webhook.ProbingUntil = nil, 0, nil, nil, nil
		columns = append(columns, "failing_since", "consecutive_failures", "circuit_opened_at", "next_probe_at", "probing_until")
	}
	return db.RequireOneRow(database.Query(ctx).Model(&models.Webhook{}).Where("id = ?", webhook.ID).Select("url",
		columns...).UpdateColumns(webhook))
}

// activeHook finds an active webhook that the scope may see.
func activeHook(ctx context.Context, database *db.DB, scope db.WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	var webhook models.Webhook
	err := hooksIn(ctx, database, scope).Where("id = ? AND active", id).Take(&webhook).Error
	return &webhook, err
}

// saveSecrets writes a webhook's current and earlier secrets.
func saveSecrets(ctx context.Context, database *db.DB, webhook *models.Webhook) error {
	return db.RequireOneRow(database.Query(ctx).Model(&models.Webhook{}).Where("id = ?", webhook.ID).
		Select("secret", "previous_secret", "previous_secret_until", "older_secrets").Updates(webhook))
}

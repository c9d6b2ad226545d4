package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

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

package db

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/models"
)

// CountActiveKeys counts an operator's keys that are neither revoked nor expired.
func (d *DB) CountActiveKeys(ctx context.Context, operatorID uuid.UUID, now time.Time) (int64, error) {
	var count int64
	err := d.with(ctx).Model(&models.APIKey{}).
		Where("operator_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", operatorID, now).Count(&count).Error
	return count, err
}

// RevokeAPIKey revokes a key. It returns ErrNotFound for another operator's key or one already
// revoked.
func (d *DB) RevokeAPIKey(ctx context.Context, operatorID, keyID uuid.UUID, now time.Time) error {
	return requireOneRow(d.with(ctx).Model(&models.APIKey{}).
		Where("id = ? AND operator_id = ? AND revoked_at IS NULL", keyID, operatorID).
		Update("revoked_at", now))
}

// RevokeAllKeys revokes every key of an operator.
func (d *DB) RevokeAllKeys(ctx context.Context, operatorID uuid.UUID, now time.Time) error {
	return d.with(ctx).Model(&models.APIKey{}).Where("operator_id = ? AND revoked_at IS NULL", operatorID).
		Update("revoked_at", now).Error
}

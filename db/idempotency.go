package db

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"despacho/models"
)

// Claim is what became of an attempt to use an Idempotency-Key.
type Claim int

// A key is claimed for this request, in use by another, answered before, or was used with another
// body.
const (
	Claimed Claim = iota
	InProgress
	Completed
	BodyMismatch
)

// ClaimKey takes an Idempotency-Key for a request. The claim is a lease: whoever dies with it
// blocks the key no longer than that. With Answered the record holds the first answer.
func (d *DB) ClaimKey(ctx context.Context, record *models.IdempotencyRecord, now time.Time) (Claim, *models.IdempotencyRecord, error) {
	// Taken over only from the dead: an answer past its window, or a lease that ran out.
	takeOver := clause.OnConflict{
		Columns: []clause.Column{{Name: "scope_id"}, {Name: "key"}},
		Where: clause.Where{Exprs: []clause.Expression{clause.Expr{
			SQL: "idempotency_records.expires_at <= ? OR (idempotency_records.response IS NULL AND idempotency_records.lease_until <= ?)", Vars: []any{now, now},
		}}},
		DoUpdates: clause.AssignmentColumns([]string{
			"body_hash", "lease_token", "lease_until", "status_code", "location", "response", "created_at", "expires_at",
		}),
	}
	result := d.with(ctx).Clauses(takeOver).Create(record)
	if result.Error != nil {
		return 0, nil, result.Error
	}
	if result.RowsAffected == 1 {
		return Claimed, nil, nil
	}
	var held models.IdempotencyRecord
	err := d.with(ctx).Where("scope_id = ? AND key = ?", record.ScopeID, record.Key).Take(&held).Error
	if IsNotFound(err) {
		// The request that held it failed in this very moment and freed it.
		return InProgress, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	switch {
	case held.Response == nil:
		return InProgress, nil, nil
	case !bytes.Equal(held.BodyHash, record.BodyHash):
		return BodyMismatch, nil, nil
	}
	return Completed, &held, nil
}

// AnswerKey records the answer of a claimed key. ErrNotFound means that the lease ran out and
// another request took it.
func (d *DB) SaveKeyResponse(ctx context.Context, record *models.IdempotencyRecord, statusCode int, location string, response []byte) error {
	return requireOneRow(d.with(ctx).Model(&models.IdempotencyRecord{}).
		Where("scope_id = ? AND key = ? AND lease_token = ? AND response IS NULL", record.ScopeID, record.Key, record.LeaseToken).
		Updates(map[string]any{"status_code": statusCode, "location": location, "response": response}))
}

// FreeKey gives up a claim, so that a corrected request can use the key.
func (d *DB) ReleaseKey(ctx context.Context, scopeID uuid.UUID, key string, leaseToken uuid.UUID) error {
	return d.with(ctx).Where("scope_id = ? AND key = ? AND lease_token = ? AND response IS NULL", scopeID, key, leaseToken).
		Delete(&models.IdempotencyRecord{}).Error
}

// AnsweredKeys finds those of the keys that were answered and are still remembered.
func (d *DB) CompletedKeys(ctx context.Context, scopeID uuid.UUID, keys []string, now time.Time) ([]models.IdempotencyRecord, error) {
	var records []models.IdempotencyRecord
	err := d.with(ctx).Where("scope_id = ? AND key IN ? AND response IS NOT NULL AND expires_at > ?", scopeID, keys, now).Find(&records).Error
	return records, err
}

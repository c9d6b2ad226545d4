package db

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"despacho/models"
)

// Claim is the result of claiming an Idempotency-Key.
type Claim int

// The key is claimed for this request, in use by another, completed before, or was used with
// another body.
const (
	Claimed Claim = iota
	InProgress
	Completed
	BodyMismatch
)

// clockTolerance is more than the clocks of two processes that run well differ.
const clockTolerance = time.Hour

// ClaimKey claims an Idempotency-Key for a request. The claim is a lease, so that a crashed request
// blocks the key only until the lease expires. With Completed, the record holds the first outcome.
func (d *DB) ClaimKey(ctx context.Context, record *models.IdempotencyRecord, now time.Time) (Claim, *models.IdempotencyRecord, error) {
	// A key is taken over only if its outcome or its lease has expired. A lease that ends much
	// later than this one's was taken by a clock that was ahead.
	takeOver := clause.OnConflict{
		Columns: []clause.Column{{Name: "scope_id"}, {Name: "key"}},
		Where: clause.Where{Exprs: []clause.Expression{clause.Expr{
			SQL:  "idempotency_records.expires_at <= ? OR (idempotency_records.response IS NULL AND (idempotency_records.lease_until <= ? OR idempotency_records.lease_until > ?))",
			Vars: []any{now, now, record.LeaseUntil.Add(clockTolerance)},
		}}},
		// Nothing of the earlier outcome stays: it is of another order.
		DoUpdates: clause.AssignmentColumns([]string{
			"body_hash", "lease_token", "lease_until", "order_id", "response", "created_at", "expires_at",
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
		// The request that held the key has just failed and released it.
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

// SaveKeyResponse stores the response of a claimed key. ErrNotFound means that the lease expired
// and another request claimed the key.
func (d *DB) SaveKeyResponse(ctx context.Context, record *models.IdempotencyRecord, orderID uuid.UUID, response []byte) error {
	return requireOneRow(d.with(ctx).Model(&models.IdempotencyRecord{}).
		Where("scope_id = ? AND key = ? AND lease_token = ? AND response IS NULL", record.ScopeID, record.Key, record.LeaseToken).
		UpdateColumns(map[string]any{"response": response, "order_id": orderID}))
}

// ReleaseKey gives up a claim, so that a corrected request can use the key.
func (d *DB) ReleaseKey(ctx context.Context, scopeID uuid.UUID, key string, leaseToken uuid.UUID) error {
	return d.with(ctx).Where("scope_id = ? AND key = ? AND lease_token = ? AND response IS NULL", scopeID, key, leaseToken).
		Delete(&models.IdempotencyRecord{}).Error
}

// CompletedKeys finds which of the keys have an unexpired response.
func (d *DB) CompletedKeys(ctx context.Context, scopeID uuid.UUID, keys []string, now time.Time) ([]models.IdempotencyRecord, error) {
	var records []models.IdempotencyRecord
	err := d.with(ctx).Where("scope_id = ? AND key IN ? AND response IS NOT NULL AND expires_at > ?", scopeID, keys, now).Find(&records).Error
	return records, err
}

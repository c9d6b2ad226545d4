package orders

import (
	"bytes"
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"despacho/internal/db"
	"despacho/models"
)

// clockTolerance is more than the clocks of two processes that run well differ.
const clockTolerance = time.Hour

// claimKey claims an Idempotency-Key for a request, or returns the response to the first one. The
// claim is a lease, so that a crashed request blocks the key only until the lease expires.
func claimKey(
	ctx context.Context, database *db.DB, record *models.IdempotencyRecord, now time.Time,
) (response []byte, err error) {
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
	result := database.Query(ctx).Clauses(takeOver).Create(record)
	if result.Error != nil || result.RowsAffected == 1 {
		return nil, result.Error
	}
	var held models.IdempotencyRecord
	err = database.Query(ctx).Where("scope_id = ? AND key = ?", record.ScopeID, record.Key).Take(&held).Error
	switch {
	case db.IsNotFound(err): // the request that held the key has just failed and released it
		return nil, ErrKeyInProgress
	case err != nil:
		return nil, err
	case held.Response == nil:
		return nil, ErrKeyInProgress
	case !bytes.Equal(held.BodyHash, record.BodyHash):
		return nil, ErrKeyReused
	}
	return held.Response, nil
}

// heldKey selects the record of a key while the request that claimed it still holds it.
func heldKey(ctx context.Context, database *db.DB, record *models.IdempotencyRecord) *gorm.DB {
	return database.Query(ctx).Model(&models.IdempotencyRecord{}).
		Where("scope_id = ? AND key = ? AND lease_token = ? AND response IS NULL", record.ScopeID, record.Key, record.LeaseToken)
}

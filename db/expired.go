package db

import (
	"context"
	"time"

	"despacho/models"
)

// Cleared counts the rows that had outlived their use.
type Cleared struct {
	IdempotencyRecords, RateWindows, Sessions, IdentityAnswers int64
}

// ClearExpired removes idempotency records, rate windows, sessions and identity answers that are
// over.
func (d *DB) ClearExpired(ctx context.Context, now time.Time) (Cleared, error) {
	var cleared Cleared
	for _, old := range []struct {
		row     any
		where   string
		before  any
		counted *int64
	}{
		{&models.IdempotencyRecord{}, "expires_at <= ?", now, &cleared.IdempotencyRecords},
		// The window before the current one is kept: another process's clock may still be in it.
		{&models.RateWindow{}, "minute < ?", Minute(now) - 1, &cleared.RateWindows},
		{&models.Session{}, "expires_at <= ?", now, &cleared.Sessions},
		{&models.IdentityAnswer{}, "expires_at <= ?", now, &cleared.IdentityAnswers},
	} {
		result := d.with(ctx).Where(old.where, old.before).Delete(old.row)
		if result.Error != nil {
			return cleared, result.Error
		}
		*old.counted = result.RowsAffected
	}
	return cleared, nil
}

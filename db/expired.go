package db

import (
	"context"
	"time"

	"despacho/models"
)

// Cleared counts the deleted rows.
type Cleared struct {
	IdempotencyRecords, RateWindows, Sessions, IdentityAnswers, PasswordResets, AuditEntries, StoredPages, FeedEvents int64
}

// Total is the number of all deleted rows.
func (c Cleared) Total() int64 {
	return c.IdempotencyRecords + c.RateWindows + c.Sessions + c.IdentityAnswers + c.PasswordResets + c.AuditEntries + c.StoredPages + c.FeedEvents
}

// ClearExpired deletes expired idempotency records, rate windows, sessions, identity answers,
// password resets, entries of the audit log, stored pages and events of the feed.
func (d *DB) ClearExpired(ctx context.Context, now time.Time) (Cleared, error) {
	var cleared Cleared
	for _, old := range []struct {
		row     any
		where   string
		before  any
		counted *int64
	}{
		{&models.IdempotencyRecord{}, "expires_at <= ?", now, &cleared.IdempotencyRecords},
		// The previous window is kept: another process's clock may be behind.
		{&models.RateWindow{}, "minute < ?", Minute(now) - 1, &cleared.RateWindows},
		{&models.Session{}, "expires_at <= ?", now, &cleared.Sessions},
		{&models.IdentityAnswer{}, "expires_at <= ?", now, &cleared.IdentityAnswers},
		{&models.PasswordReset{}, "expires_at <= ?", now, &cleared.PasswordResets},
		{&models.AuditEntry{}, "keep_until <= ?", now, &cleared.AuditEntries},
		{&models.StoredPage{}, "expires_at <= ?", now, &cleared.StoredPages},
		{&models.FeedEvent{}, "created_at <= ?", now.Add(-models.FeedRetention), &cleared.FeedEvents},
	} {
		result := d.with(ctx).Where(old.where, old.before).Delete(old.row)
		if result.Error != nil {
			return cleared, result.Error
		}
		*old.counted = result.RowsAffected
	}
	return cleared, nil
}

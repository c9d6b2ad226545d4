package db

import (
	"context"
	"errors"
	"time"

	"despacho/models"
)

// Cleared counts the deleted rows.
type Cleared struct {
	IdempotencyRecords, RateWindows, Sessions, IdentityAnswers, PasswordResets, AuditEntries, FeedEvents int64
}

// Total is the number of all deleted rows.
func (c Cleared) Total() int64 {
	return c.IdempotencyRecords + c.RateWindows + c.Sessions + c.IdentityAnswers + c.PasswordResets + c.AuditEntries + c.FeedEvents
}

// ClearExpired deletes expired idempotency records, rate windows, sessions, identity answers,
// password resets, entries of the audit log and events of the feed. A table that
// fails does not keep those after it from being cleared.
func (d *DB) ClearExpired(ctx context.Context, now time.Time) (Cleared, error) {
	var cleared Cleared
	var errs []error
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
		{&models.AuditEntry{}, "keep_until <= ? AND " + d.auditEntryEnded(), now, &cleared.AuditEntries},
		{&models.FeedEvent{}, "created_at <= ?", now.Add(-models.FeedRetention), &cleared.FeedEvents},
	} {
		deleted, err := d.clearTable(ctx, old.row, old.where, old.before)
		*old.counted = deleted
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return cleared, errors.Join(errs...)
}

// auditEntryEnded is the condition on which the trigger of the audit log lets an entry be deleted:
// by the database's clock. Where a worker's is ahead, one entry between the two would fail the
// statement for all of them.
func (d *DB) auditEntryEnded() string {
	if d.dialect == SQLite {
		return "julianday(keep_until) <= julianday('now')"
	}
	return "keep_until <= now()"
}

// clearAtOnce is how many rows one statement deletes. After a long pause there may be millions: a
// statement for all of them would keep SQLite from every other write, and if it is interrupted, as
// at the end of a run of the reconcile workflow, nothing is deleted.
const clearAtOnce = 1000

// clearTable deletes the rows of one table that meet a condition, some at a time.
func (d *DB) clearTable(ctx context.Context, row any, where string, before any) (deleted int64, err error) {
	place, among := "ctid", "ctid = ANY(ARRAY(?))" // PostgreSQL goes to these rows without reading the table
	if d.dialect == SQLite {
		place, among = "rowid", "rowid IN (?)"
	}
	for {
		some := d.with(ctx).Model(row).Select(place).Where(where, before).Limit(clearAtOnce)
		// The condition once more: a row may be another's by now, such as a key that is claimed again.
		result := d.with(ctx).Where(among, some).Where(where, before).Delete(row)
		deleted += result.RowsAffected
		if result.Error != nil || result.RowsAffected < clearAtOnce {
			return deleted, result.Error
		}
	}
}

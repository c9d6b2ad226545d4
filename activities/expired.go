package activities

import (
	"context"
	"errors"
	"time"

	"despacho/internal/db"
	"despacho/models"
)

// clearExpired deletes expired idempotency records, rate windows, sessions, identity answers,
// password resets, entries of the audit log and events of the feed. A table that
// fails does not keep those after it from being cleared.
func clearExpired(ctx context.Context, database *db.DB, now time.Time) (deleted int64, err error) {
	var errs []error
	for _, old := range []struct {
		row    any
		where  string
		before any
	}{
		{&models.IdempotencyRecord{}, "expires_at <= ?", now},
		// The previous window is kept: another process's clock may be behind.
		{&models.RateWindow{}, "minute < ?", db.Minute(now) - 1},
		{&models.Session{}, "expires_at <= ?", now},
		{&models.PasswordReset{}, "expires_at <= ?", now},
		{&models.AuditEntry{}, "keep_until <= ? AND " + auditEntryEnded(database.Dialect()), now},
		{&models.FeedEvent{}, "created_at <= ?", now.Add(-models.FeedRetention)},
	} {
		rows, err := clearTable(ctx, database, old.row, old.where, old.before)
		deleted += rows
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return deleted, errors.Join(errs...)
}

// auditEntryEnded is the condition on which the trigger of the audit log lets an entry be deleted:
// by the database's clock. Where a worker's is ahead, one entry between the two would fail the
// statement for all of them.
func auditEntryEnded(dialect db.Dialect) string {
	if dialect == db.SQLite {
		return "julianday(keep_until) <= julianday('now')"
	}
	return "keep_until <= now()"
}

// clearAtOnce is how many rows one statement deletes. After a long pause there may be millions: a
// statement for all of them would keep SQLite from every other write, and if it is interrupted, as
// at the end of a run of the reconcile workflow, nothing is deleted.
const clearAtOnce = 1000

// clearTable deletes the rows of one table that meet a condition, some at a time.
func clearTable(ctx context.Context, database *db.DB, row any, where string, before any) (deleted int64, err error) {
	place, among := "ctid", "ctid = ANY(ARRAY(?))" // PostgreSQL goes to these rows without reading the table
	if database.Dialect() == db.SQLite {
		place, among = "rowid", "rowid IN (?)"
	}
	for {
		some := database.Query(ctx).Model(row).Select(place).Where(where, before).Limit(clearAtOnce)
		// The condition once more: a row may be another's by now, such as a key that is claimed again.
		result := database.Query(ctx).Where(among, some).Where(where, before).Delete(row)
		deleted += result.RowsAffected
		if result.Error != nil || result.RowsAffected < clearAtOnce {
			return deleted, result.Error
		}
	}
}

package db

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitedriver "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// outageInterval is the time in which at most one statement that failed in an outage is logged.
const outageInterval = 10 * time.Second

// outageLog decides which of the statements that fail in an outage are logged. Every request of
// that time has such a statement, and its response is logged as well: with the text of every
// statement the log would grow so fast that what led to the outage is soon rotated away.
type outageLog struct {
	mu   sync.Mutex
	next time.Time
}

// admits reports whether a statement that failed in an outage at that time is logged.
func (o *outageLog) admits(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Before(o.next) {
		return false
	}
	o.next = now.Add(outageInterval)
	return true
}

// isOfTheDatabase reports whether a statement failed as any other would have: the database cannot
// be reached, or lacks a resource. A deadlock, a lock that is not free or a statement that takes
// too long says something about the statement.
func isOfTheDatabase(err error) bool {
	var pg *pgconn.PgError
	var lite *sqlitedriver.Error
	var connecting *pgconn.ConnectError
	switch {
	case !IsUnavailable(err):
		return false
	case errors.As(err, &connecting):
		return true
	case errors.As(err, &pg):
		return pg.Code[:2] != transactionRollback && !slices.Contains(statementStates, pg.Code) && !isStalePlan(pg)
	case errors.As(err, &lite):
		return !slices.Contains([]int{sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED}, lite.Code()&0xff)
	}
	return !errors.Is(err, context.DeadlineExceeded)
}

// statementStates are the SQLSTATE codes of temporary failures of one statement.
var statementStates = []string{lockNotAvailable, idleInTransaction, "57014" /* cancelled */}

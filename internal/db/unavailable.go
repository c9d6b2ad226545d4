package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitedriver "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// IsUnavailable reports whether a statement failed because the database could not be reached, had
// no connection free, dropped the connection, is starting or stopping, or lacks a resource such as
// disk space. Such a statement may succeed later.
func IsUnavailable(err error) bool {
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return isStorageError(pg) || isStalePlan(pg) || unavailableClasses[pg.Code[:min(2, len(pg.Code))]] ||
			unavailableStates[pg.Code]
	}
	var lite *sqlitedriver.Error
	if errors.As(err, &lite) {
		return slices.Contains(unavailableResults, lite.Code()&0xff)
	}
	var network net.Error
	return errors.Is(err, ErrBusy) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) ||
		pgconn.SafeToRetry(err)
}

// unavailableClasses are the SQLSTATE classes of temporary failures.
var unavailableClasses = map[string]bool{
	"08":                true, // connection exception
	transactionRollback: true,
	"53":                true, // insufficient resources: connections, memory, disk
	"57":                true, // operator intervention: shutdown, cancelled statement
	"58":                true, // system error: input and output
}

// unavailableStates are the SQLSTATE codes of temporary failures in other classes.
var unavailableStates = map[string]bool{
	readOnlyState:     true,
	lockNotAvailable:  true,
	idleInTransaction: true,
}

const (
	// transactionRollback is the SQLSTATE class of deadlocks and serialization failures.
	transactionRollback = "40"
	// lockNotAvailable is the SQLSTATE of a statement that has waited for a lock for too long.
	lockNotAvailable = "55P03"
	// idleInTransaction is the SQLSTATE of a process that stood still in a transaction, which
	// PostgreSQL has ended.
	idleInTransaction = "25P03"
)

// readOnlyState is the SQLSTATE of a write on a standby that is not promoted yet. A connection that
// has met it is not used again: after a failover the next one is made to the new primary, while a
// standby keeps its connections open for as long as they are used.
const readOnlyState = "25006"

// unavailableResults are SQLite's result codes of temporary failures.
var unavailableResults = []int{
	sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED, sqlitelib.SQLITE_IOERR, sqlitelib.SQLITE_FULL, sqlitelib.SQLITE_CANTOPEN,
	sqlitelib.SQLITE_PROTOCOL, sqlitelib.SQLITE_NOMEM,
	sqlitelib.SQLITE_READONLY, // the system has made a failing disk read only
}

// isStorageError reports whether PostgreSQL could not write a file for a reason without a SQLSTATE
// of its own, such as a quota: it then reports an internal error, and the source file that raised
// it.
func isStorageError(pg *pgconn.PgError) bool {
	return pg.Code == "XX000" && slices.Contains([]string{"md.c", "fd.c", "xlog.c", "buffile.c"}, pg.File)
}

// isStalePlan reports whether a prepared statement failed because a migration has changed what it
// returns. The driver prepares it again for the next attempt.
func isStalePlan(pg *pgconn.PgError) bool {
	return pg.Code == "0A000" && pg.Routine == "RevalidateCachedQuery"
}

// IsFull reports whether a statement failed because the database's disk is full.
func IsFull(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "53100" || isStorageError(pg)
	}
	var lite *sqlitedriver.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlitelib.SQLITE_FULL
}

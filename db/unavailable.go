package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitedriver "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// IsUnavailable reports whether a statement failed because the database could not be reached,
// dropped the connection, is starting or stopping, or has no connection left. Such a statement may
// succeed later.
func IsUnavailable(err error) bool {
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return unavailableStates[pg.Code] || strings.HasPrefix(pg.Code, connectionException)
	}
	var lite *sqlitedriver.Error
	if errors.As(err, &lite) {
		return lite.Code()&0xff == sqlitelib.SQLITE_BUSY
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}

const connectionException = "08"

// unavailableStates are the SQLSTATE codes of a temporary failure.
var unavailableStates = map[string]bool{
	"53300": true, // too many connections
	"57P01": true, // admin shutdown
	"57P02": true, // crash shutdown
	"57P03": true, // cannot connect now
	"57P05": true, // idle session timeout
	"25006": true, // read only: a standby that is not promoted yet
}

package db

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// poolerCheckStatement is the name of a prepared statement that checkPooler makes.
const poolerCheckStatement = "despacho_pooler_check"

// errPooler is about a pooler that would make most requests fail, at random.
var errPooler = errors.New("leads to a pooler that does not keep prepared statements, as PgBouncer in transaction mode: " +
	"add default_query_exec_mode=cache_describe to its parameters")

// checkPooler returns errPooler if the statements that one connection prepares are missing there
// later, or are met by another connection. It asks only where the address leads to a pooler: there
// the process that answers is not the one that was named when the connection was made.
func checkPooler(ctx context.Context, handle *sql.DB) error {
	connection, err := handle.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	return connection.Raw(func(driverConnection any) error {
		first := driverConnection.(*stdlib.Conn).Conn()
		if first.Config().DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
			return nil // statements have no names
		}
		var process uint32
		if err := first.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&process); err != nil {
			return err
		}
		if process == first.PgConn().PID() {
			return nil
		}
		second, err := pgx.ConnectConfig(ctx, first.Config())
		if err != nil {
			return err
		}
		defer second.Close(ctx)
		return checkPrepared(ctx, first.PgConn(), second.PgConn())
	})
}

// checkPrepared prepares a statement of the same name on two connections and runs that of the
// first. It is left behind where that fails: the pooler may close it in another session only.
func checkPrepared(ctx context.Context, first, second *pgconn.PgConn) error {
	for _, connection := range []*pgconn.PgConn{first, second} {
		if _, err := connection.Prepare(ctx, poolerCheckStatement, "SELECT 1", nil); err != nil {
			return poolerError(err)
		}
	}
	if _, err := first.ExecPrepared(ctx, poolerCheckStatement, nil, nil, nil).Close(); err != nil {
		return poolerError(err)
	}
	return errors.Join(first.Deallocate(ctx, poolerCheckStatement), second.Deallocate(ctx, poolerCheckStatement))
}

func poolerError(err error) error {
	const duplicateStatement, invalidStatementName = "42P05", "26000"
	var postgres *pgconn.PgError
	if errors.As(err, &postgres) && (postgres.Code == duplicateStatement || postgres.Code == invalidStatementName) {
		return errPooler
	}
	return err
}

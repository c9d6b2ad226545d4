package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// InPipeline runs fn in a transaction. fn sees no result of its statements, neither rows nor
// counts nor errors: they are sent together when it has returned. PostgreSQL runs them as one
// transaction in one round trip, instead of one for each and two for begin and commit.
func (d *DB) InPipeline(ctx context.Context, fn func(tx *DB) error) error {
	if d.dialect == SQLite {
		return d.InTx(ctx, fn)
	}
	queue := &pipeline{pool: d.pool}
	if err := fn(d.withPool(ctx, queue)); err != nil {
		return err
	}
	return d.send(ctx, queue)
}

// rollbackTime bounds how long the end of a failed transaction is waited for. PostgreSQL rolls back
// on its own when the connection is closed, which the driver does after that.
const rollbackTime = 2 * time.Second

// inLockedPipeline begins a transaction with a statement that reads and locks rows, and runs fn in
// it. fn reads with tx, and writes with writes: what it writes is sent with the commit when fn has
// returned. That takes two round trips instead of one for each statement and two for begin and
// commit. It is for PostgreSQL, and for rows that the statement has locked.
func (d *DB) inLockedPipeline(ctx context.Context, lock pgxStatement, fn func(tx, writes *DB) error) error {
	connection, err := d.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	begin := &pipeline{pool: d.pool, connection: connection}
	begin.add(pgxStatement{statement: "BEGIN"})
	begin.add(lock)
	writes := &pipeline{pool: d.pool, connection: connection}
	if err = d.send(ctx, begin); err == nil {
		err = fn(d.withPool(ctx, connection), d.withPool(ctx, writes))
	}
	if err == nil && len(writes.statements) > 0 {
		writes.add(pgxStatement{statement: "COMMIT"})
		if err = d.send(ctx, writes); err == nil {
			return nil
		}
	}
	// Of what was sent after an error nothing was run, the commit included. A connection on which this
	// fails is not used again.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	_, _ = connection.ExecContext(ending, "ROLLBACK")
	return err
}

// readRows runs statements on PostgreSQL in one round trip and scans their rows with pgx, which is
// much cheaper than GORM's reflection and database/sql's conversions. It is for the few statements
// that most API requests make.
func (d *DB) readRows(ctx context.Context, reads ...pgxStatement) error {
	queue := &pipeline{pool: d.pool}
	for _, read := range reads {
		queue.add(read)
	}
	return d.send(ctx, queue)
}

// canReadRows reports whether readRows can be used: on PostgreSQL, and not in a transaction.
func (d *DB) canReadRows() bool { return d.keys != nil }

// numbered replaces GORM's placeholders in a statement by PostgreSQL's.
func numbered(statement string) string {
	for n := 1; strings.Contains(statement, "?"); n++ {
		statement = strings.Replace(statement, "?", "$"+strconv.Itoa(n), 1)
	}
	return statement
}

// withPool is the database over another connection pool.
func (d *DB) withPool(ctx context.Context, pool gorm.ConnPool) *DB {
	session := d.gorm.Session(&gorm.Session{Context: ctx, NewDB: true})
	session.Statement.ConnPool = pool
	return &DB{gorm: session, pool: d.pool, dialect: d.dialect, auditRetention: d.auditRetention}
}

// send sends what is queued. It passes through GORM's callbacks, so that metrics, traces and logs
// include the round trip.
func (d *DB) send(ctx context.Context, queue *pipeline) error {
	session := d.with(ctx)
	session.Statement.ConnPool = pipelineSender{queue}
	session.Statement.SQL.WriteString(strings.Join(queue.statements, "; "))
	err := session.Callback().Raw().Execute(session).Error
	if noRowChanged(err) {
		return ErrNotFound
	}
	return err
}

// pgxStatement is a statement with pgx's placeholders. Every row is scanned into targets, then
// onRow is called, which must copy what it keeps.
type pgxStatement struct {
	statement string
	arguments []any
	targets   []any
	onRow     func()
}

// pipeline is a GORM connection pool that queues statements.
type pipeline struct {
	*pool
	// connection is the one that the statements are sent over; nil for any of the pool.
	connection *sql.Conn
	batch      pgx.Batch
	statements []string
	found      int64
}

// ExecContext is what GORM calls for a write. An update of a locked pipeline that changes no row is
// an error of the whole pipeline, of which nothing is written then: a division by zero says so in
// the database, before the commit that is sent with it. Of other writes the count is not known.
func (p *pipeline) ExecContext(_ context.Context, statement string, arguments ...any) (sql.Result, error) {
	write := pgxStatement{statement: statement, arguments: arguments}
	if p.connection == nil || !strings.HasPrefix(statement, "UPDATE") {
		p.add(write)
		return driver.ResultNoRows, nil
	}
	write.statement = "WITH changed AS (" + statement + " RETURNING 1) SELECT 1 / COUNT(*) FROM changed"
	write.targets, write.onRow = []any{new(int64)}, func() {}
	p.add(write)
	return driver.RowsAffected(1), nil
}

// noRowChanged reports whether an update of a pipeline has changed no row.
func noRowChanged(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "22012"
}

func (p *pipeline) add(read pgxStatement) {
	p.statements = append(p.statements, read.statement)
	p.batch.Queue(read.statement, read.arguments...).Query(func(rows pgx.Rows) error {
		for ; rows.Next(); p.found++ {
			if err := rows.Scan(read.targets...); err != nil {
				return err
			}
			read.onRow()
		}
		return rows.Err()
	})
}

// pipelineSender is a GORM connection pool that sends what is queued.
type pipelineSender struct{ *pipeline }

// ExecContext is what GORM calls to run the statements.
func (p pipelineSender) ExecContext(ctx context.Context, _ string, _ ...any) (sql.Result, error) {
	connection := p.connection
	if connection == nil {
		var err error
		if connection, err = p.Conn(ctx); err != nil {
			return nil, err
		}
		defer connection.Close()
	}
	err := connection.Raw(func(driverConn any) error {
		return driverConn.(*stdlib.Conn).Conn().SendBatch(ctx, &p.batch).Close()
	})
	return driver.RowsAffected(p.found), err
}

// pgUUID converts an id to the type that pgx sends in binary; a uuid.UUID would be sent as text.
func pgUUID(id *uuid.UUID) pgtype.UUID {
	if id == nil {
		return pgtype.UUID{}
	}
	return pgtype.UUID{Bytes: *id, Valid: true}
}

package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// InPipeline runs fn in a transaction of which fn needs no result: its statements are sent when it
// has returned. PostgreSQL gets them at once and runs them as one transaction, which takes one
// round trip instead of one for each and two for its begin and end. What a statement read, or how
// many rows it changed, fn cannot see, nor its error.
func (d *DB) InPipeline(ctx context.Context, fn func(tx *DB) error) error {
	if d.dialect == SQLite {
		return d.InTx(ctx, fn)
	}
	queue := &pipeline{DB: d.sql}
	if err := fn(d.on(ctx, queue)); err != nil {
		return err
	}
	connection, err := d.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	return d.send(ctx, queue, connection)
}

// InLockedPipeline runs fn in a transaction in which fn reads and locks rows with tx, and writes
// with writes: what it writes is sent with the commit when fn has returned, in one round trip. Each
// write is taken to have changed one row. It is for rows that fn has locked.
func (d *DB) InLockedPipeline(ctx context.Context, fn func(tx, writes *DB) error) error {
	if d.dialect == SQLite {
		return d.InTx(ctx, func(tx *DB) error { return fn(tx, tx) })
	}
	connection, err := d.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := connection.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	queue := &pipeline{DB: d.sql}
	err = fn(d.on(ctx, connection), d.on(ctx, queue))
	if err == nil && len(queue.statements) > 0 {
		queue.add("COMMIT")
		if err = d.send(ctx, queue, connection); err == nil {
			return nil
		}
	}
	// Of what was sent after an error nothing was run, the commit included. A connection on which this
	// fails is not used again.
	_, _ = connection.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return err
}

// on is the database over another connection pool.
func (d *DB) on(ctx context.Context, pool gorm.ConnPool) *DB {
	session := d.gorm.Session(&gorm.Session{Context: ctx, NewDB: true})
	session.Statement.ConnPool = pool
	return &DB{gorm: session, sql: d.sql, dialect: d.dialect, auditRetention: d.auditRetention}
}

// send sends what is queued. It passes through GORM's callbacks, so that metrics, traces and logs
// include the round trip.
func (d *DB) send(ctx context.Context, queue *pipeline, connection *sql.Conn) error {
	send := d.with(ctx)
	send.Statement.ConnPool = pipelineSender{queue, connection}
	send.Statement.SQL.WriteString(strings.Join(queue.statements, "; "))
	return send.Callback().Raw().Execute(send).Error
}

// pipeline is a GORM connection pool that queues statements.
type pipeline struct {
	*sql.DB
	batch      pgx.Batch
	statements []string
}

func (p *pipeline) ExecContext(_ context.Context, statement string, arguments ...any) (sql.Result, error) {
	p.add(statement, arguments...)
	return driver.RowsAffected(1), nil
}

func (p *pipeline) add(statement string, arguments ...any) {
	p.batch.Queue(statement, arguments...)
	p.statements = append(p.statements, statement)
}

// pipelineSender is a GORM connection pool that sends what is queued over a connection.
type pipelineSender struct {
	*pipeline
	connection *sql.Conn
}

func (p pipelineSender) ExecContext(ctx context.Context, _ string, _ ...any) (sql.Result, error) {
	return driver.ResultNoRows, p.connection.Raw(func(driverConn any) error {
		return driverConn.(*stdlib.Conn).Conn().SendBatch(ctx, &p.batch).Close()
	})
}

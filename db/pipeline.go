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
	session := d.gorm.Session(&gorm.Session{Context: ctx, NewDB: true})
	session.Statement.ConnPool = queue
	if err := fn(&DB{gorm: session, sql: d.sql, dialect: d.dialect, auditRetention: d.auditRetention}); err != nil {
		return err
	}
	// They pass through GORM's callbacks, so that metrics, traces and logs include the round trip.
	send := d.with(ctx)
	send.Statement.ConnPool = pipelineSender{queue}
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
	p.batch.Queue(statement, arguments...)
	p.statements = append(p.statements, statement)
	return driver.ResultNoRows, nil
}

// pipelineSender is a GORM connection pool that sends what is queued.
type pipelineSender struct{ *pipeline }

func (p pipelineSender) ExecContext(ctx context.Context, _ string, _ ...any) (sql.Result, error) {
	connection, err := p.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return driver.ResultNoRows, connection.Raw(func(driverConn any) error {
		return driverConn.(*stdlib.Conn).Conn().SendBatch(ctx, &p.batch).Close()
	})
}

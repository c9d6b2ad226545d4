package db

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// rowsRead is a statement with pgx's placeholders. Every row is scanned into targets, then onRow is
// called, which must copy what it keeps.
type rowsRead struct {
	statement string
	arguments []any
	targets   []any
	onRow     func()
}

// readRows runs statements on PostgreSQL in one round trip and scans their rows with pgx, which is
// much cheaper than GORM's reflection and database/sql's conversions. It is for the few statements
// that every API request makes. They still pass through GORM's callbacks, so that metrics, traces
// and logs include the round trip.
func (d *DB) readRows(ctx context.Context, reads ...rowsRead) error {
	session := d.with(ctx)
	session.Statement.ConnPool = rowReader{DB: d.sql, reads: reads}
	for i, read := range reads {
		if i > 0 {
			session.Statement.SQL.WriteString("; ")
		}
		session.Statement.SQL.WriteString(read.statement)
		session.Statement.Vars = append(session.Statement.Vars, read.arguments...)
	}
	return session.Callback().Raw().Execute(session).Error
}

// rowReader is a GORM connection pool whose ExecContext reads rows.
type rowReader struct {
	*sql.DB
	reads []rowsRead
}

// ExecContext is what GORM calls to run the statements.
func (r rowReader) ExecContext(ctx context.Context, _ string, _ ...any) (sql.Result, error) {
	connection, err := r.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	var batch pgx.Batch
	var found int64
	for _, read := range r.reads {
		batch.Queue(read.statement, read.arguments...).Query(func(rows pgx.Rows) error {
			for ; rows.Next(); found++ {
				if err := rows.Scan(read.targets...); err != nil {
					return err
				}
				read.onRow()
			}
			return rows.Err()
		})
	}
	err = connection.Raw(func(driverConn any) error {
		return driverConn.(*stdlib.Conn).Conn().SendBatch(ctx, &batch).Close()
	})
	return driver.RowsAffected(found), err
}

// pgUUID converts an id to the type that pgx sends in binary; a uuid.UUID would be sent as text.
func pgUUID(id *uuid.UUID) pgtype.UUID {
	if id == nil {
		return pgtype.UUID{}
	}
	return pgtype.UUID{Bytes: *id, Valid: true}
}

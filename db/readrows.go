package db

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// readRows runs a statement on PostgreSQL with pgx's placeholders and scans its rows with pgx,
// which is much cheaper than GORM's reflection and database/sql's conversions. It is for the few
// statements that every API request makes. The statement still passes through GORM's callbacks, so
// that metrics, traces and logs include it.
//
// Every row is scanned into targets, then onRow is called, which must copy what it keeps.
func (d *DB) readRows(ctx context.Context, targets []any, onRow func(), statement string, arguments ...any) error {
	session := d.with(ctx)
	session.Statement.ConnPool = rowReader{DB: d.sql, targets: targets, onRow: onRow}
	session.Statement.SQL.WriteString(statement)
	session.Statement.Vars = arguments
	return session.Callback().Raw().Execute(session).Error
}

// rowReader is a GORM connection pool whose ExecContext reads rows.
type rowReader struct {
	*sql.DB
	targets []any
	onRow   func()
}

// ExecContext is what GORM calls to run a statement.
func (r rowReader) ExecContext(ctx context.Context, statement string, arguments ...any) (sql.Result, error) {
	connection, err := r.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	var read int64
	err = connection.Raw(func(driverConn any) error {
		rows, err := driverConn.(*stdlib.Conn).Conn().Query(ctx, statement, arguments...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for ; rows.Next(); read++ {
			if err := rows.Scan(r.targets...); err != nil {
				return err
			}
			r.onRow()
		}
		return rows.Err()
	})
	return driver.RowsAffected(read), err
}

// pgUUID converts an id to the type that pgx sends in binary; a uuid.UUID would be sent as text.
func pgUUID(id *uuid.UUID) pgtype.UUID {
	if id == nil {
		return pgtype.UUID{}
	}
	return pgtype.UUID{Bytes: *id, Valid: true}
}

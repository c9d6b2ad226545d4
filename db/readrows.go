package db

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// readRows runs a statement on PostgreSQL, with pgx's own $1, $2, and hands its rows over as pgx
// has them, which takes a fraction of what GORM's building and reflection and database/sql's
// conversions do. It is for the few statements that every request makes. GORM still carries the
// statement, so that whoever counts, traces or logs statements hears of it.
//
// Every row is read into places, then each is called; what it keeps of the row it copies.
func (d *DB) readRows(ctx context.Context, places []any, each func(), statement string, arguments ...any) error {
	session := d.with(ctx)
	session.Statement.ConnPool = rowReader{DB: d.sql, targets: places, onRow: each}
	session.Statement.SQL.WriteString(statement)
	session.Statement.Vars = arguments
	return session.Callback().Raw().Execute(session).Error
}

// rowReader is a connection pool whose statements return rows.
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
	err = connection.Raw(func(underneath any) error {
		rows, err := underneath.(*stdlib.Conn).Conn().Query(ctx, statement, arguments...)
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

// argument is an id in the form that pgx sends as it is; a uuid.UUID goes by way of its text.
func pgUUID(id *uuid.UUID) pgtype.UUID {
	if id == nil {
		return pgtype.UUID{}
	}
	return pgtype.UUID{Bytes: *id, Valid: true}
}

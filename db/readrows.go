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

// readRows runs a statement on PostgreSQL and hands its rows over as pgx has them, which takes a fraction of what GORM's reflection and
// database/sql's conversions do. It is for the few statements that every request makes. GORM still carries the statement, so that
// whoever counts, traces or logs statements hears of it.
func (d *DB) readRows(ctx context.Context, each func(pgx.Rows) error, statement string, arguments ...any) error {
	session := d.with(ctx)
	session.Statement.ConnPool = rowReader{DB: d.sql, each: each}
	return session.Exec(statement, arguments...).Error
}

// rowReader is a connection pool whose statements return rows to a function.
type rowReader struct {
	*sql.DB
	each func(pgx.Rows) error
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
			if err := r.each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return driver.RowsAffected(read), err
}

// list is several values as one argument; of a slice GORM would make several.
func list[T any](values []T) pgtype.Array[T] {
	return pgtype.Array[T]{Elements: values, Dims: []pgtype.ArrayDimension{{Length: int32(len(values)), LowerBound: 1}}, Valid: true}
}

// argument is an id in the form that pgx sends as it is; a uuid.UUID goes by way of its text.
func argument(id *uuid.UUID) pgtype.UUID {
	if id == nil {
		return pgtype.UUID{}
	}
	return pgtype.UUID{Bytes: *id, Valid: true}
}

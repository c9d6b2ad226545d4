package db

import (
	"context"
	"time"

	"gorm.io/gorm"
)

// Query begins a statement of a use case, in the transaction if d is one.
func (d *DB) Query(ctx context.Context) *gorm.DB { return d.with(ctx) }

// QueryForUpdate begins a query that locks the rows it reads until the transaction ends.
func (d *DB) QueryForUpdate(ctx context.Context) *gorm.DB { return d.forUpdate(ctx) }

// QueryForNoKeyUpdate is QueryForUpdate for rows that others may go on to refer to.
func (d *DB) QueryForNoKeyUpdate(ctx context.Context) *gorm.DB { return d.lock(ctx, "NO KEY UPDATE") }

// RequireOneRow turns an update that matched no row into ErrNotFound.
func RequireOneRow(result *gorm.DB) error { return requireOneRow(result) }

// Owned narrows a query of a table to the operator and the mode of the scope.
func (s OrderScope) Owned(query *gorm.DB, table string) *gorm.DB { return s.owned(query, table) }

// Day is the SQL for the number of the day of a column's time in a zone, since 1970-01-01, and the
// arguments of its placeholders.
func (d *DB) Day(column string, zone *time.Location, from, until time.Time) (sql string, arguments []any) {
	offset, arguments := offsetIn(column, zone, from, until)
	return "(" + d.seconds(column) + " + " + offset + ") / 86400", arguments
}

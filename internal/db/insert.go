package db

import (
	"context"

	"gorm.io/gorm/clause"
)

// Insert inserts rows of any type.
func (d *DB) Insert(ctx context.Context, rows any) error {
	return d.with(ctx).Create(rows).Error
}

// InsertMissing inserts rows, skipping those whose id exists.
func (d *DB) InsertMissing(ctx context.Context, rows any) error {
	return d.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(rows).Error
}

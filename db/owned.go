package db

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// Owned is a kind of row that an operator's own people look after in the panel.
type Owned interface {
	models.Store | models.Rider | models.Branch | models.Size | models.Coverage | models.RiskZone | models.APIKey | models.User
}

// ListOwned reads all of an operator's rows of a kind, oldest first.
func ListOwned[T Owned](ctx context.Context, d *DB, operatorID uuid.UUID) ([]T, error) {
	var rows []T
	err := d.with(ctx).Where("operator_id = ?", operatorID).Order("created_at, id").Find(&rows).Error
	return rows, err
}

// FindOwned reads one row of a kind. Another operator's is ErrNotFound like one that is not there.
func FindOwned[T Owned](ctx context.Context, d *DB, operatorID, id uuid.UUID) (*T, error) {
	var row T
	err := d.with(ctx).Where("id = ? AND operator_id = ?", id, operatorID).Take(&row).Error
	return &row, err
}

// LockOwned is FindOwned for a row that is about to be written: until the transaction ends nobody
// else writes it. Orders may go on pointing at it.
func LockOwned[T Owned](ctx context.Context, d *DB, operatorID, id uuid.UUID) (*T, error) {
	var row T
	err := d.lock(ctx, "NO KEY UPDATE").Where("id = ? AND operator_id = ?", id, operatorID).Take(&row).Error
	return &row, err
}

// SaveOwned writes every column of a row that is there.
func SaveOwned[T Owned](ctx context.Context, d *DB, row *T) error {
	return requireOneRow(d.with(ctx).Model(row).Select("*").Updates(row))
}

// UnmarkMainBranch leaves an operator without a main branch, to make room for another in the same
// transaction.
func (d *DB) UnmarkMainBranch(ctx context.Context, operatorID uuid.UUID) error {
	return d.with(ctx).Model(&models.Branch{}).Where("operator_id = ? AND main", operatorID).Update("main", false).Error
}

// UnmarkDefaultSize leaves an operator without a default size, to make room for another in the same
// transaction.
func (d *DB) UnmarkDefaultSize(ctx context.Context, operatorID uuid.UUID) error {
	return d.with(ctx).Model(&models.Size{}).Where("operator_id = ? AND is_default", operatorID).Update("is_default", false).Error
}

// HasLocation reports whether the catalog has a place.
func (d *DB) HasLocation(ctx context.Context, id uuid.UUID) (bool, error) {
	var count int64
	err := d.with(ctx).Model(&models.Location{}).Where("id = ?", id).Count(&count).Error
	return count > 0, err
}

package db

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// Owned is a row type that an operator manages in the panel.
type Owned interface {
	models.Audited
	models.Store | models.Rider | models.Branch | models.Size | models.Coverage | models.RiskZone | models.APIKey | models.User
}

// ownedRows queries an operator's rows of a type. Riders of test orders are not among them: nobody
// manages those.
func ownedRows[T Owned](query *gorm.DB, operatorID uuid.UUID) *gorm.DB {
	query = query.Where("operator_id = ?", operatorID)
	if _, riders := any(*new(T)).(models.Rider); riders {
		query = query.Where("NOT test")
	}
	return query
}

// ListOwned reads all of an operator's rows of a type, oldest first.
func ListOwned[T Owned](ctx context.Context, d *DB, operatorID uuid.UUID) ([]T, error) {
	var rows []T
	err := ownedRows[T](d.with(ctx), operatorID).Order("created_at, id").Find(&rows).Error
	return rows, err
}

// FindOwned reads one row. It returns ErrNotFound for another operator's row.
func FindOwned[T Owned](ctx context.Context, d *DB, operatorID, id uuid.UUID) (*T, error) {
	var row T
	err := ownedRows[T](d.with(ctx), operatorID).Where("id = ?", id).Take(&row).Error
	return &row, err
}

// LockOwned is FindOwned with a row lock for an update. Orders may still reference the row.
func LockOwned[T Owned](ctx context.Context, d *DB, operatorID, id uuid.UUID) (*T, error) {
	var row T
	err := ownedRows[T](d.lock(ctx, "NO KEY UPDATE"), operatorID).Where("id = ?", id).Take(&row).Error
	return &row, err
}

// SaveOwned writes every column of an existing row.
func SaveOwned[T Owned](ctx context.Context, d *DB, row *T) error {
	return requireOneRow(d.with(ctx).Model(row).Select("*").Updates(row))
}

// UnmarkMainBranch clears the operator's main branch, before another is set in the same
// transaction.
func (d *DB) UnmarkMainBranch(ctx context.Context, operatorID uuid.UUID) error {
	return d.with(ctx).Model(&models.Branch{}).Where("operator_id = ? AND main", operatorID).Update("main", false).Error
}

// UnmarkDefaultSize clears the operator's default size, before another is set in the same
// transaction.
func (d *DB) UnmarkDefaultSize(ctx context.Context, operatorID uuid.UUID) error {
	return d.with(ctx).Model(&models.Size{}).Where("operator_id = ? AND is_default", operatorID).Update("is_default", false).Error
}

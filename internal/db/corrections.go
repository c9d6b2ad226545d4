package db

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// SaveCorrection writes those columns of a locked order that differ from what it was before, the
// timeline entry and what was corrected.
func (d *DB) SaveCorrection(ctx context.Context, before, order *models.Order, entry *models.TimelineEntry, corrections []models.Correction) error {
	columns := ChangedColumns(before, order)
	if len(columns) > 0 {
		// UpdateColumns, because Updates would set updated_at to the current time.
		err := requireOneRow(d.with(ctx).Model(&models.Order{}).Where("id = ?", order.ID).Select(columns).UpdateColumns(order))
		if err != nil {
			return err
		}
	}
	if err := d.with(ctx).Create(entry).Error; err != nil {
		return err
	}
	return d.with(ctx).Create(corrections).Error
}

// Corrections reads what was corrected in an order, in no particular order.
func (d *DB) Corrections(ctx context.Context, orderID uuid.UUID) ([]models.Correction, error) {
	var corrections []models.Correction
	err := d.with(ctx).Where("order_id = ?", orderID).Find(&corrections).Error
	return corrections, err
}

// ReplacedPhotos reads the names of the photos of an order that a correction has replaced.
func (d *DB) ReplacedPhotos(ctx context.Context, orderID uuid.UUID) ([]string, error) {
	var names []string
	err := d.replacedPhotos(ctx).Where("order_id = ?", orderID).Pluck("old_value", &names).Error
	return names, err
}

func (d *DB) replacedPhotos(ctx context.Context) *gorm.DB {
	// The field is written out: PostgreSQL uses an index of one field only if it sees the field.
	return d.with(ctx).Model(&models.Correction{}).Where("field = 'delivery_proof' AND old_value IS NOT NULL")
}

// OrdersCorrectedFrom finds the orders of a scope that had a phone until somebody corrected it, and
// have another one now.
func (d *DB) OrdersCorrectedFrom(ctx context.Context, scope OrderScope, phone string) ([]uuid.UUID, error) {
	var orders []uuid.UUID
	err := scope.apply(d.with(ctx).Model(&models.Order{})).Where("orders.recipient_phone <> ?", phone).
		Where("orders.id IN (SELECT order_id FROM order_corrections WHERE field = 'recipient_phone' AND old_value = ?)", phone).
		Order("orders.created_at, orders.id").Pluck("orders.id", &orders).Error
	return orders, err
}

// EraseCorrectedPhone removes a phone from the corrections of an order.
func (d *DB) EraseCorrectedPhone(ctx context.Context, orderID uuid.UUID, phone string) error {
	for _, column := range []string{"old_value", "new_value"} {
		err := d.with(ctx).Model(&models.Correction{}).Where("order_id = ? AND field = 'recipient_phone'", orderID).
			Where(column+" = ?", phone).UpdateColumn(column, nil).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseCorrections removes the values that tell who the recipient of an order is.
func (d *DB) eraseCorrections(ctx context.Context, orderID uuid.UUID) error {
	return d.with(ctx).Model(&models.Correction{}).Where("order_id = ? AND field NOT IN ?", orderID, models.ImpersonalCorrections).
		UpdateColumns(map[string]any{"old_value": nil, "new_value": nil}).Error
}

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

// EraseCorrectedPhone removes a phone from the corrections of an operator's orders: it may be that
// of somebody whom none of them is for any more. A phone that was corrected to is the order's own,
// or was corrected in turn.
func (d *DB) EraseCorrectedPhone(ctx context.Context, operatorID uuid.UUID, phone string) error {
	var orders []uuid.UUID
	err := d.with(ctx).Model(&models.Correction{}).Joins("JOIN orders ON orders.id = order_corrections.order_id").
		Where("order_corrections.field = 'recipient_phone' AND order_corrections.old_value = ? AND orders.operator_id = ?", phone, operatorID).
		Pluck("order_corrections.order_id", &orders).Error
	if err != nil || len(orders) == 0 {
		return err
	}
	for _, column := range []string{"old_value", "new_value"} {
		err := d.with(ctx).Model(&models.Correction{}).Where("order_id IN ? AND field = 'recipient_phone'", orders).
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

package db

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// KnownPhotos returns which of the given photos an order or an operator's logo refers to, or did an
// order before a correction, and which belonged to an order that was erased.
func (d *DB) KnownPhotos(ctx context.Context, names []string) (referenced, erased []string, err error) {
	if err = d.with(ctx).Table("orders").Where("proof_photo IN ?", names).Pluck("proof_photo", &referenced).Error; err != nil {
		return nil, nil, err
	}
	var logos []string
	if err = d.with(ctx).Table("operators").Where("logo_photo IN ?", names).Pluck("logo_photo", &logos).Error; err != nil {
		return nil, nil, err
	}
	referenced = append(referenced, logos...)
	var replaced []string
	if err = d.replacedPhotos(ctx).Where("old_value IN ?", names).Pluck("old_value", &replaced).Error; err != nil {
		return nil, nil, err
	}
	referenced = append(referenced, replaced...)
	err = d.with(ctx).Table("erased_photos").Where("name IN ?", names).Pluck("name", &erased).Error
	return referenced, erased, err
}

// IsLogo reports whether a file is the logo of an operator.
func (d *DB) IsLogo(ctx context.Context, name string) (bool, error) {
	var count int64
	err := d.with(ctx).Table("operators").Where("logo_photo = ?", name).Count(&count).Error
	return count > 0, err
}

// recordErasedPhotos records that the photo of an order, if it has one, and those that a correction
// has replaced have to be deleted.
func (d *DB) recordErasedPhotos(ctx context.Context, orderID uuid.UUID, now time.Time) error {
	err := d.with(ctx).Exec(`INSERT INTO erased_photos (name, erased_at)
		SELECT proof_photo, ? FROM orders WHERE id = ? AND proof_photo IS NOT NULL ON CONFLICT DO NOTHING`, now, orderID).Error
	if err != nil {
		return err
	}
	return d.with(ctx).Exec(`INSERT INTO erased_photos (name, erased_at)
		SELECT old_value, ? FROM order_corrections WHERE order_id = ? AND field = 'delivery_proof' AND old_value IS NOT NULL ON CONFLICT DO NOTHING`, now, orderID).Error
}

package db

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// KnownPhotos returns which of the given photos an order or an operator's logo refers to, and which
// belonged to an order that was erased.
func (d *DB) KnownPhotos(ctx context.Context, names []string) (referenced, erased []string, err error) {
	if err = d.with(ctx).Table("orders").Where("proof_photo IN ?", names).Pluck("proof_photo", &referenced).Error; err != nil {
		return nil, nil, err
	}
	var logos []string
	if err = d.with(ctx).Table("operators").Where("logo_photo IN ?", names).Pluck("logo_photo", &logos).Error; err != nil {
		return nil, nil, err
	}
	referenced = append(referenced, logos...)
	err = d.with(ctx).Table("erased_photos").Where("name IN ?", names).Pluck("name", &erased).Error
	return referenced, erased, err
}

// IsLogo reports whether a file is the logo of an operator.
func (d *DB) IsLogo(ctx context.Context, name string) (bool, error) {
	var count int64
	err := d.with(ctx).Table("operators").Where("logo_photo = ?", name).Count(&count).Error
	return count > 0, err
}

// recordErasedPhoto records that the photo of an order, if it has one, has to be deleted.
func (d *DB) recordErasedPhoto(ctx context.Context, orderID uuid.UUID, now time.Time) error {
	return d.with(ctx).Exec(`INSERT INTO erased_photos (name, erased_at)
		SELECT proof_photo, ? FROM orders WHERE id = ? AND proof_photo IS NOT NULL ON CONFLICT DO NOTHING`, now, orderID).Error
}

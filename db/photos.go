package db

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// KnownPhotos returns which of the given photos an order refers to, and which belonged to an order
// that was erased.
func (d *DB) KnownPhotos(ctx context.Context, names []string) (referenced, erased []string, err error) {
	if err = d.with(ctx).Table("orders").Where("proof_photo IN ?", names).Pluck("proof_photo", &referenced).Error; err != nil {
		return nil, nil, err
	}
	err = d.with(ctx).Table("erased_photos").Where("name IN ?", names).Pluck("name", &erased).Error
	return referenced, erased, err
}

// recordErasedPhoto records that the photo of an order, if it has one, has to be deleted.
func (d *DB) recordErasedPhoto(ctx context.Context, orderID uuid.UUID, now time.Time) error {
	return d.with(ctx).Exec(`INSERT INTO erased_photos (name, erased_at)
		SELECT proof_photo, ? FROM orders WHERE id = ? AND proof_photo IS NOT NULL ON CONFLICT DO NOTHING`, now, orderID).Error
}

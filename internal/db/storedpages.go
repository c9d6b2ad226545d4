package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// storedPagesPerSession bounds what a session stores; the oldest pages are deleted. The page that
// was just stored stays, also where the clock went back or stood still.
const storedPagesPerSession = 20

// InsertStoredPage stores the page that answers a form. It returns ErrNotFound if the session has
// ended.
func (d *DB) InsertStoredPage(ctx context.Context, page *models.StoredPage) error {
	err := d.InTx(ctx, func(tx *DB) error {
		if err := tx.with(ctx).Create(page).Error; err != nil {
			return err
		}
		others := func() *gorm.DB { return tx.with(ctx).Where("session_id = ? AND id <> ?", page.SessionID, page.ID) }
		newest := others().Model(&models.StoredPage{}).Select("id").Order("created_at DESC, id DESC").Limit(storedPagesPerSession - 1)
		return others().Where("id NOT IN (?)", newest).Delete(&models.StoredPage{}).Error
	})
	if IsMissingReference(err) {
		return ErrNotFound
	}
	return err
}

// TakeStoredPage reads a page of a session. One that is shown once is deleted, and of two readers
// only the first gets it.
func (d *DB) TakeStoredPage(ctx context.Context, id, session uuid.UUID, now time.Time) (*models.StoredPage, error) {
	var page models.StoredPage
	err := d.with(ctx).Where("id = ? AND session_id = ? AND expires_at > ?", id, session, now).Take(&page).Error
	if err == nil && page.Once {
		err = requireOneRow(d.with(ctx).Where("id = ?", id).Delete(&models.StoredPage{}))
	}
	return &page, err
}

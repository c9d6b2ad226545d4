package orders

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/photos"
	"despacho/internal/recovered"
	"despacho/models"
)

const (
	// photoGracePeriod is how long after a photo was stored its delivery may still be written: a
	// move waits for the database.
	photoGracePeriod = 24 * time.Hour
	sweepInterval    = time.Hour
)

// savePhoto stores the photo of a delivery. One that does not say when it was taken was taken now.
func (s *Service) savePhoto(
	ctx context.Context, caller Caller, id uuid.UUID, photo []byte, delivered *models.Message,
) (err error) {
	if delivered.Photo, err = s.storePhoto(ctx, caller, id, photo); err != nil {
		return err
	}
	if delivered.CapturedAt == nil {
		now := s.clock.Now()
		delivered.CapturedAt = &now
	}
	return nil
}

// storePhoto stores a photo for an order. That it could not be stored is logged with its order.
func (s *Service) storePhoto(ctx context.Context, caller Caller, id uuid.UUID, photo []byte) (name string, err error) {
	name, err = s.options.Photos.Save(ctx, photo)
	if errors.Is(err, photos.ErrNotStored) {
		s.log.ErrorContext(ctx, "photo not stored", "order_id", id, "error", err)
	}
	return name, err
}

func (s *Service) discardPhoto(ctx context.Context, name string) {
	if err := s.options.Photos.Discard(ctx, name); err != nil {
		s.log.WarnContext(ctx, "photo of a refused delivery not removed", "error", err)
	}
}

// RunPhotoSweeper sweeps the photos, now and every hour until ctx ends.
func (s *Service) RunPhotoSweeper(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		err := recovered.Call(ctx, s.log, func() error { return s.SweepPhotos(ctx) })
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "photos not swept; the next hour tries again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// SweepPhotos looks for photos that nothing refers to. A process that crashes between storing a
// photo and confirming its delivery leaves one. One sweep at a time: the outcome of an earlier one
// must not replace that of a later one.
func (s *Service) SweepPhotos(ctx context.Context) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	rules := photos.SweepRules{Grace: photoGracePeriod, Quarantine: s.options.PhotoQuarantine}
	swept, err := s.options.Photos.Sweep(ctx, s.clock.Now(), rules, s.KnownPhotos)
	s.logSweep(ctx, swept)
	s.swept.Store(&swept)
	return err
}

// PhotoSweep is the outcome of the latest sweep of this process.
func (s *Service) PhotoSweep() photos.Swept {
	if swept := s.swept.Load(); swept != nil {
		return *swept
	}
	return photos.Swept{}
}

func (s *Service) logSweep(ctx context.Context, swept photos.Swept) {
	if swept.Refused && swept.Unknown != s.PhotoSweep().Unknown { // once, not every hour
		s.log.ErrorContext(ctx, "the database does not know most of the photos: none was moved or deleted. Is DATABASE_URL right, was an older backup restored?",
			"unknown", swept.Unknown, "photos", swept.Photos)
	}
	if swept.Quarantined > 0 {
		s.log.WarnContext(ctx, "photos that no delivery refers to were put into quarantine", "photos", swept.Quarantined,
			"in_quarantine", swept.InQuarantine, "deleted_after", s.options.PhotoQuarantine)
	}
	if swept.Returned > 0 {
		s.log.WarnContext(ctx, "photos were put back from quarantine: the database knows them again", "photos", swept.Returned)
	}
	if swept.Deleted > 0 || swept.Leftovers > 0 {
		s.log.InfoContext(ctx, "photos deleted", "photos", swept.Deleted, "files_of_interrupted_uploads", swept.Leftovers)
	}
}

// replacedPhoto selects the corrections that replaced a photo. The field is written out: PostgreSQL
// uses an index of one field only if it sees the field.
const replacedPhoto = "field = 'delivery_proof' AND old_value IS NOT NULL"

// KnownPhotos returns which of the photos an order, its timeline or an operator's logo refers to,
// or did an order before a correction, and which belonged to an order that was erased.
func (s *Service) KnownPhotos(ctx context.Context, names []string) (referenced, erased []string, err error) {
	for _, of := range []struct{ table, column, condition string }{
		{"orders", "proof_photo", "TRUE"}, {"operators", "logo_photo", "TRUE"}, {"order_corrections", "old_value", replacedPhoto},
		{"order_events", "photo", "TRUE"},
	} {
		var found []string
		query := s.db.Query(ctx).Table(of.table).Where(of.condition).Where(of.column+" IN ?", names)
		if err := query.Pluck(of.column, &found).Error; err != nil {
			return nil, nil, err
		}
		referenced = append(referenced, found...)
	}
	err = s.db.Query(ctx).Table("erased_photos").Where("name IN ?", names).Pluck("name", &erased).Error
	return referenced, erased, err
}

// recordErasedPhotos records that the photos of an order, those that a correction has replaced and
// those of its timeline among them, have to be deleted, and returns their names.
func recordErasedPhotos(ctx context.Context, tx *db.DB, order *models.Order, now time.Time) (names []string, err error) {
	err = tx.Query(ctx).Model(&models.Correction{}).Where(replacedPhoto).Where("order_id = ?", order.ID).Pluck("old_value",
		&names).Error
	if err != nil {
		return nil, err
	}
	var taken []string
	err = tx.Query(ctx).Model(&models.TimelineEntry{}).Where("order_id = ? AND photo IS NOT NULL", order.ID).Pluck("photo",
		&taken).Error
	if err != nil {
		return nil, err
	}
	names = slices.Concat(names, taken, order.Attempts.Photos())
	if order.ProofPhoto != nil {
		names = append(names, *order.ProofPhoto)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		err := tx.Query(ctx).Exec("INSERT INTO erased_photos (name, erased_at) VALUES (?, ?) ON CONFLICT DO NOTHING", name,
			now).Error
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

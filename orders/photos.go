package orders

import (
	"context"
	"time"
)

const (
	// photoGracePeriod is how long after a photo was stored its delivery may still be written: a
	// move waits for the database.
	photoGracePeriod = 24 * time.Hour
	sweepInterval    = time.Hour
)

func (s *Service) discardPhoto(ctx context.Context, name string) {
	if err := s.options.Photos.Remove(name); err != nil {
		s.log.WarnContext(ctx, "photo of a refused delivery not removed", "error", err)
	}
}

// RunPhotoSweeper deletes photos without a delivery, now and every hour until ctx ends. A process
// that crashes between storing a photo and confirming its delivery leaves them.
func (s *Service) RunPhotoSweeper(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		removed, err := s.options.Photos.Sweep(ctx, s.clock.Now().Add(-photoGracePeriod), s.db.ReferencedPhotos)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.WarnContext(ctx, "photos not swept; the next hour tries again", "error", err)
		case removed > 0:
			s.log.InfoContext(ctx, "photos without a delivery removed", "files", removed)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

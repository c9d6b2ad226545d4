package orders

import (
	"context"
	"time"
)

const (
	// photoOwnedWithin is how long after a photo was stored its delivery may still come about: the
	// move waits as long as the database is away.
	photoGracePeriod = 24 * time.Hour
	sweepInterval    = time.Hour
)

func (s *Service) discardPhoto(ctx context.Context, name string) {
	if err := s.options.Photos.Remove(name); err != nil {
		s.log.WarnContext(ctx, "photo of a refused delivery not removed", "error", err)
	}
}

// KeepPhotosSwept removes photos that belong to no delivery, now and every hour until ctx ends.
// They are what a process leaves that dies between storing a photo and learning what became of its
// delivery.
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

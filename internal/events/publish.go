package events

import (
	"context"
	"time"

	"despacho/internal/recovered"
)

const (
	// publishInterval is the time between two attempts to publish events, publishErrorInterval that
	// after one that failed.
	publishInterval, publishErrorInterval = 200 * time.Millisecond, 5 * time.Second
	// publishBatch is how many events one transaction publishes, publishTimeout how long it may take:
	// without a timeout a read from a database host that has vanished blocks for a quarter of an hour.
	publishBatch, publishTimeout = 1000, 10 * time.Second
)

// RunPublisher publishes events until ctx ends. Every worker runs it; they take turns.
func (s *Service) RunPublisher(ctx context.Context) {
	for {
		pause := publishInterval
		published, err := s.publish(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			s.log.WarnContext(ctx, "events not published; trying again", "in", publishErrorInterval, "error", err)
			pause = publishErrorInterval
		case published == publishBatch:
			pause = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (s *Service) publish(ctx context.Context) (published int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	err = recovered.Call(ctx, s.log, func() (err error) {
		published, err = publishFeed(ctx, s.db, publishBatch, tryPublishLock)
		return err
	})
	return published, err
}

package events

import (
	"context"
	"time"
)

const (
	// publishInterval is the time between two looks for events to publish, publishErrorInterval that
	// after one that failed.
	publishInterval, publishErrorInterval = 200 * time.Millisecond, 5 * time.Second
	// publishBatch is how many events one transaction publishes.
	publishBatch = 1000
)

// RunPublisher publishes events until ctx ends. Every worker runs it; they take turns.
func (s *Service) RunPublisher(ctx context.Context) {
	for {
		pause := publishInterval
		published, err := s.db.PublishFeed(ctx, publishBatch)
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

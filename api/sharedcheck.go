package api

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"despacho/internal/clock"
	"despacho/internal/recovered"
)

// outcomeUsedFor is how long the outcome of a sharedCheck is used: balancers ask every second.
const outcomeUsedFor = time.Second

// sharedCheck is a check of a dependency that serves all requests of a moment. Anybody may ask
// /readyz, as often as they like, and what they ask must not be work for the dependencies.
type sharedCheck struct {
	clock clock.Clock
	log   *slog.Logger
	// timeout bounds one run of check.
	timeout time.Duration
	check   func(context.Context) error

	running singleflight.Group
	latest  atomic.Pointer[checked]
}

// checked is the outcome of a run that began at a time.
type checked struct {
	began time.Time
	err   error
}

// outcome returns the outcome of a run of this moment, or why there was none when ctx ended: a disk
// of a server that is away may never answer. A run serves all requests, so it does not end with the
// one that began it.
func (s *sharedCheck) outcome(ctx context.Context) error {
	done := s.running.DoChan("", func() (any, error) {
		now := s.clock.Now()
		// A negative age means that the clock was set back.
		if latest := s.latest.Load(); latest != nil {
			if age := now.Sub(latest.began); 0 <= age && age < outcomeUsedFor {
				return nil, latest.err
			}
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		err := recovered.Call(ctx, s.log, func() error { return s.check(ctx) })
		s.latest.Store(&checked{began: now, err: err})
		return nil, err
	})
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

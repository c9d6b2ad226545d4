package api

import (
	"context"
	"log/slog"
	"sync"
	"time"

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

	mu sync.Mutex
	// latest is the run that is under way, or the last one.
	latest *checkRun
}

// checkRun is one run of a check. Its err is set when done is closed.
type checkRun struct {
	began time.Time
	done  chan struct{}
	err   error
}

// outcome returns the outcome of a run of this moment, or why there was none when ctx ended: a disk
// of a server that is away may never answer.
func (s *sharedCheck) outcome(ctx context.Context) error {
	run := s.current(ctx)
	select {
	case <-run.done:
		return run.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// current is the run that is under way, or that began a moment ago, or else a new one. It serves
// all requests, so it does not end with the one that began it.
func (s *sharedCheck) current(ctx context.Context) *checkRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if s.latest != nil && (s.latest.underWay() || s.latest.isOf(now)) {
		return s.latest
	}
	run := &checkRun{began: now, done: make(chan struct{})}
	s.latest = run
	go func() {
		defer close(run.done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		run.err = recovered.Call(ctx, s.log, func() error { return s.check(ctx) })
	}()
	return run
}

func (r *checkRun) underWay() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// isOf reports whether the run began a moment before now. A negative age means that the clock was
// set back.
func (r *checkRun) isOf(now time.Time) bool {
	age := now.Sub(r.began)
	return 0 <= age && age < outcomeUsedFor
}

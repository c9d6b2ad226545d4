package orders

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

	"despacho/internal/recovered"
)

const (
	// StartsAtOnce is how many workflows a process starts at once: 640 a second where Temporal takes
	// 25 ms for a start. On a Temporal server with two processors 32 were too many: matching gives a
	// task that meets a waiting poller one second to be recorded as started, and tasks that missed it
	// waited for their timeout.
	StartsAtOnce = 16
	// maxWaitingStarts is how many created orders may wait for their start in memory.
	maxWaitingStarts = 4_096
	// StartGracePeriod is how long the process that created or moved an order has to confirm its
	// workflow before the reconcile workflow looks after it. From then on both start what waits:
	// of two starts of an order's workflow, Temporal refuses one.
	StartGracePeriod = 32 * time.Second
)

var (
	errTooManyStarts = errors.New("too many orders wait for their start")
	errStartStopped  = errors.New("the process stops")
)

// starter starts the workflows of created orders while their creations are answered. What waits is
// in memory only: an order that is too many or loses its process has no confirmed workflow in the
// database, where the reconcile workflow finds it.
type starter struct {
	log *slog.Logger
	// start starts a workflow within the trace of its request, until stop is called.
	start  func(trace.SpanContext, workflowStart) error
	stop   context.CancelFunc
	places chan struct{} // one for each start at once

	mu     sync.Mutex
	closed bool
	// waiting has when each order was added that waits or is being started.
	waiting map[uuid.UUID]time.Time
	done    sync.WaitGroup

	failed atomic.Int64
	// warnings limits the log of failed starts: without Temporal every creation would write a line.
	warnings rate.Sometimes
}

func newStarter(log *slog.Logger, start func(context.Context, workflowStart) error) *starter {
	running, stop := context.WithCancel(context.Background())
	return &starter{
		log: log, stop: stop, places: make(chan struct{}, StartsAtOnce), waiting: map[uuid.UUID]time.Time{},
		start: func(span trace.SpanContext, order workflowStart) error {
			if running.Err() != nil {
				return errStartStopped
			}
			ctx := trace.ContextWithSpanContext(running, span)
			return recovered.Call(ctx, log, func() error { return start(ctx, order) })
		},
		warnings: rate.Sometimes{Interval: time.Second},
	}
}

// add has an order's workflow started as soon as there is a free place, and returns at once. The
// start does not depend on the request's connection, but belongs to its trace.
func (s *starter) add(ctx context.Context, order workflowStart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		s.fail(ctx, order.ID, errStartStopped)
		return
	case len(s.waiting) == maxWaitingStarts:
		s.fail(ctx, order.ID, errTooManyStarts)
		return
	}
	s.waiting[order.ID] = time.Now()
	span := trace.SpanContextFromContext(ctx)
	s.done.Go(func() {
		s.places <- struct{}{}
		if err := s.start(span, order); err != nil {
			s.fail(trace.ContextWithSpanContext(context.Background(), span), order.ID, err)
		}
		<-s.places
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, order.ID)
	})
}

// fail counts a start that is left to the reconcile workflow.
func (s *starter) fail(ctx context.Context, orderID uuid.UUID, err error) {
	failed := s.failed.Add(1)
	s.warnings.Do(func() {
		s.log.WarnContext(ctx, "orders stored but their workflows not started; the reconcile workflow will start them",
			"order_id", orderID, "failed_so_far", failed, "error", err)
	})
}

// close starts what waits, for at most the given time, and leaves the rest.
func (s *starter) close(timeout time.Duration) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	defer time.AfterFunc(timeout, s.stop).Stop()
	s.done.Wait()
}

// StartBacklog is the state of a process's workflow starts.
type StartBacklog struct {
	// Waiting is how many created orders wait for their workflow or are being started.
	Waiting int
	// Oldest is how long the first of them has waited.
	Oldest time.Duration
	// Failed is how many starts this process has left to the reconcile workflow so far.
	Failed int64
}

func (s *starter) backlog() StartBacklog {
	s.mu.Lock()
	defer s.mu.Unlock()
	backlog := StartBacklog{Waiting: len(s.waiting), Failed: s.failed.Load()}
	for _, added := range s.waiting {
		backlog.Oldest = max(backlog.Oldest, time.Since(added))
	}
	return backlog
}

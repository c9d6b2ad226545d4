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
	// startQueueSize is how many created orders may wait for their start in memory.
	startQueueSize = 4_096
	// StartGracePeriod is how long the process that created or moved an order has to confirm its
	// workflow before the reconcile workflow looks after it. From then on both start what waits:
	// of two starts of an order's workflow, Temporal refuses one.
	StartGracePeriod = 32 * time.Second
)

var (
	errStartQueueFull = errors.New("too many orders wait for their start")
	errStartStopped   = errors.New("the process stops")
)

// starter starts the workflows of created orders while their creations are answered. Its queue is
// in memory only: an order that does not fit or loses its process has no confirmed workflow in the
// database, where the reconcile workflow finds it.
type starter struct {
	log   *slog.Logger
	start func(context.Context, workflowStart) error

	mu      sync.RWMutex // a send needs the queue open
	closed  bool
	queue   chan queuedStart
	running sync.Once // with the first order: a worker's process creates none
	done    sync.WaitGroup
	stop    context.CancelFunc // ends what is being started

	// inProgress has for each place when its order was queued, in Unix nanoseconds; zero if it is
	// free. The queue is first in, first out, so the oldest start is among them.
	inProgress [StartsAtOnce]atomic.Int64
	failed     atomic.Int64
	// warnings limits the log of failed starts: without Temporal every creation would write a line.
	warnings rate.Sometimes
}

type queuedStart struct {
	trace  trace.SpanContext // of the request
	order  workflowStart
	queued time.Time
}

func newStarter(log *slog.Logger, start func(context.Context, workflowStart) error) *starter {
	return &starter{
		log: log, start: start, queue: make(chan queuedStart, startQueueSize), stop: func() {},
		warnings: rate.Sometimes{Interval: time.Second},
	}
}

// add queues the start of an order's workflow and returns at once. The start does not depend on the
// request's connection, but belongs to its trace.
func (s *starter) add(ctx context.Context, order workflowStart) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		s.fail(ctx, order.ID, errStartStopped)
		return
	}
	s.running.Do(func() {
		var running context.Context
		running, s.stop = context.WithCancel(context.Background())
		for i := range s.inProgress {
			s.done.Go(func() { s.run(running, &s.inProgress[i]) })
		}
	})
	select {
	case s.queue <- queuedStart{trace: trace.SpanContextFromContext(ctx), order: order, queued: time.Now()}:
	default:
		s.fail(ctx, order.ID, errStartQueueFull)
	}
}

// run starts queued orders in one place until the queue is closed.
func (s *starter) run(running context.Context, inProgress *atomic.Int64) {
	for next := range s.queue {
		inProgress.Store(next.queued.UnixNano())
		ctx := trace.ContextWithSpanContext(running, next.trace)
		err := errStartStopped
		if running.Err() == nil {
			err = recovered.Call(ctx, s.log, func() error { return s.start(ctx, next.order) })
		}
		if err != nil {
			s.fail(ctx, next.order.ID, err)
		}
		inProgress.Store(0)
	}
}

// fail counts a start that is left to the reconcile workflow.
func (s *starter) fail(ctx context.Context, orderID uuid.UUID, err error) {
	failed := s.failed.Add(1)
	s.warnings.Do(func() {
		s.log.WarnContext(ctx, "orders stored but their workflows not started; the reconcile workflow will start them",
			"order_id", orderID, "failed_so_far", failed, "error", err)
	})
}

// close starts what is queued, for at most the given time, and leaves the rest.
func (s *starter) close(timeout time.Duration) {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
	stop := s.stop
	s.mu.Unlock()
	defer time.AfterFunc(timeout, stop).Stop()
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
	backlog := StartBacklog{Waiting: len(s.queue), Failed: s.failed.Load()}
	now := time.Now().UnixNano()
	for i := range s.inProgress {
		if queued := s.inProgress[i].Load(); queued != 0 {
			backlog.Waiting++
			backlog.Oldest = max(backlog.Oldest, time.Duration(now-queued))
		}
	}
	return backlog
}

package orders

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

const (
	// startConcurrency is how many workflows a process starts at once. Temporal takes hardly more a
	// second from more callers on the same machine, where they would hold the answers to creations
	// up.
	startConcurrency = 2
	// maxStartConcurrency is how many it starts at once while orders have waited for longer than
	// startsBehind: a Temporal on other machines takes more a second from more callers.
	maxStartConcurrency = 8
	startsBehind        = 3 * time.Second
	// startQueueSize is how many created orders may wait for their start in memory.
	startQueueSize = 4_096
	// maxStartWait is how long a created order may wait in the queue. One that has waited longer is
	// left to the reconcile workflow, which takes it after StartGracePeriod.
	maxStartWait = 30 * time.Second
	// StartGracePeriod is how long the process that created or moved an order has to confirm its
	// workflow before the reconcile workflow looks after it.
	StartGracePeriod = maxStartWait + 2*time.Second
	// startLogInterval is the shortest time between two log lines about starts that failed: without
	// Temporal every creation would write one.
	startLogInterval = time.Second
)

var (
	errStartQueueFull = errors.New("too many orders wait for their start")
	errStartLate      = errors.New("the order waited too long for its start")
	errStartStopped   = errors.New("the process stops")
)

// starter starts the workflows of created orders while their creations are answered. Its queue is
// in memory only: an order that does not fit, waits too long or loses its process has no confirmed
// workflow in the database, where the reconcile workflow finds it.
type starter struct {
	log   *slog.Logger
	start func(context.Context, workflowStart) error

	mu     sync.RWMutex // a send needs the queue open
	closed bool
	queue  chan queuedStart

	// running starts the goroutines with the first order: a worker's process creates none.
	running  sync.Once
	stopping context.Context
	stop     context.CancelFunc
	done     sync.WaitGroup

	// underWay has for each goroutine when its order was queued, in Unix nanoseconds; zero if it is
	// idle. The queue is first in, first out, so the oldest start is among them.
	underWay [maxStartConcurrency]atomic.Int64
	// additional has the elements of underWay that no goroutine uses.
	additional chan *atomic.Int64
	failed     atomic.Int64
	logged     atomic.Int64 // when a failure was last logged, in Unix nanoseconds
}

type queuedStart struct {
	ctx    context.Context
	order  workflowStart
	queued time.Time
}

func newStarter(log *slog.Logger, start func(context.Context, workflowStart) error) *starter {
	s := &starter{log: log, start: start, queue: make(chan queuedStart, startQueueSize), additional: make(chan *atomic.Int64, maxStartConcurrency)}
	for i := startConcurrency; i < maxStartConcurrency; i++ {
		s.additional <- &s.underWay[i]
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
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
		for i := range startConcurrency {
			s.done.Go(func() { s.run(&s.underWay[i], false) })
		}
	})
	select {
	case s.queue <- queuedStart{ctx: context.WithoutCancel(ctx), order: order, queued: time.Now()}:
	default:
		s.fail(ctx, order.ID, errStartQueueFull)
	}
}

// run starts queued orders. An additional goroutine ends with the first order that has not waited
// for long.
func (s *starter) run(underWay *atomic.Int64, additional bool) {
	for next := range s.queue {
		behind := time.Since(next.queued) > startsBehind
		if behind {
			s.runAdditional()
		}
		underWay.Store(next.queued.UnixNano())
		if err := s.startQueued(next); err != nil {
			s.fail(next.ctx, next.order.ID, err)
		}
		underWay.Store(0)
		if additional && !behind {
			return
		}
	}
}

// runAdditional runs one more goroutine, unless there are maxStartConcurrency.
func (s *starter) runAdditional() {
	select {
	case underWay := <-s.additional:
		s.done.Go(func() {
			s.run(underWay, true)
			s.additional <- underWay
		})
	default:
	}
}

func (s *starter) startQueued(next queuedStart) error {
	if s.stopping.Err() != nil {
		return errStartStopped
	}
	if time.Since(next.queued) > maxStartWait {
		return errStartLate
	}
	ctx, cancel := context.WithCancel(next.ctx)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	return s.start(ctx, next.order)
}

// fail counts a start that is left to the reconcile workflow.
func (s *starter) fail(ctx context.Context, orderID uuid.UUID, err error) {
	failed := s.failed.Add(1)
	now, last := time.Now().UnixNano(), s.logged.Load()
	if now-last < int64(startLogInterval) || !s.logged.CompareAndSwap(last, now) {
		return
	}
	s.log.WarnContext(ctx, "orders stored but their workflows not started; the reconcile workflow will start them",
		"order_id", orderID, "failed_so_far", failed, "error", err)
}

// close starts what is queued, for at most the given time, and leaves the rest.
func (s *starter) close(timeout time.Duration) {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
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
	backlog := StartBacklog{Waiting: len(s.queue), Failed: s.failed.Load()}
	now := time.Now().UnixNano()
	for i := range s.underWay {
		if queued := s.underWay[i].Load(); queued != 0 {
			backlog.Waiting++
			backlog.Oldest = max(backlog.Oldest, time.Duration(now-queued))
		}
	}
	return backlog
}

package orders

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"despacho/internal/recovered"
)

const (
	// startQueueSize is how many created orders may wait for their start in memory.
	startQueueSize = 4_096
	// StartGracePeriod is how long the process that created or moved an order has to confirm its
	// workflow before the reconcile workflow looks after it. From then on both start what waits:
	// of two starts of an order's workflow, Temporal refuses one.
	StartGracePeriod = 32 * time.Second
	// startLogInterval is the shortest time between two log lines about starts that failed: without
	// Temporal every creation would write one.
	startLogInterval = time.Second
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
	// concurrency is how many are started at once while orders are created.
	concurrency int
	// movesInProgress is how many orders this process is moving.
	movesInProgress func() int

	mu             sync.RWMutex // a send needs the queue open
	closed         bool
	queue          chan queuedStart
	lastQueued     atomic.Int64 // when an order was last queued, in Unix nanoseconds
	lastShortQueue atomic.Int64 // when one was last queued behind no more than burstQueue others

	// running starts the goroutines with the first order: a worker's process creates none.
	running  sync.Once
	stopping context.Context
	stop     context.CancelFunc
	done     sync.WaitGroup

	// inProgress has for each goroutine when its order was queued, in Unix nanoseconds; zero if it is
	// idle. The queue is first in, first out, so the oldest start is among them.
	inProgress [MaxStartConcurrency]atomic.Int64
	// idleSlots has the elements of inProgress that no goroutine uses.
	idleSlots chan *atomic.Int64
	slow      atomic.Int64 // starts that take longer than slowStart
	failed    atomic.Int64
	logged    atomic.Int64 // when a failure was last logged, in Unix nanoseconds
}

type queuedStart struct {
	ctx    context.Context
	order  workflowStart
	queued time.Time
}

func newStarter(log *slog.Logger, concurrency int, movesInProgress func() int, start func(context.Context, workflowStart) error) *starter {
	s := &starter{
		log: log, start: start, concurrency: concurrency, movesInProgress: movesInProgress,
		queue: make(chan queuedStart, startQueueSize), idleSlots: make(chan *atomic.Int64, MaxStartConcurrency),
	}
	for i := concurrency; i < MaxStartConcurrency; i++ {
		s.idleSlots <- &s.inProgress[i]
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
	now := time.Now()
	s.lastQueued.Store(now.UnixNano())
	if len(s.queue) <= burstQueue {
		s.lastShortQueue.Store(now.UnixNano())
	}
	s.running.Do(func() {
		for i := range s.concurrency {
			s.done.Go(func() { s.run(&s.inProgress[i]) })
		}
	})
	select {
	case s.queue <- queuedStart{ctx: context.WithoutCancel(ctx), order: order, queued: now}:
		s.runAdditional(s.concurrency) // every start under way may be slow
	default:
		s.fail(ctx, order.ID, errStartQueueFull)
	}
}

// run starts queued orders until the queue is closed.
func (s *starter) run(inProgress *atomic.Int64) {
	var took time.Duration // by the start before
	for next := range s.queue {
		if s.inBurst() {
			inProgress.Store(next.queued.UnixNano())
			time.Sleep(min(startPause*took, maxStartPause))
		}
		s.runAdditional(s.allowed(next))
		began := time.Now()
		s.startOne(next, inProgress)
		took = time.Since(began)
	}
}

// runAdditional runs one more goroutine for what waits, unless there are as many as allowed.
func (s *starter) runAdditional(allowed int) {
	if len(s.queue) == 0 || s.atOnce() >= allowed {
		return
	}
	select {
	case inProgress := <-s.idleSlots:
		s.done.Go(func() {
			s.runUntilCaughtUp(inProgress)
			s.idleSlots <- inProgress
			s.runAdditional(s.concurrency) // for an order that was queued as runUntilCaughtUp ended
		})
	default:
	}
}

// runUntilCaughtUp starts queued orders until none waits or there are more goroutines than allowed.
func (s *starter) runUntilCaughtUp(inProgress *atomic.Int64) {
	for {
		select {
		case next, open := <-s.queue:
			if !open {
				return
			}
			allowed := s.allowed(next)
			s.runAdditional(allowed)
			s.startOne(next, inProgress)
			if s.atOnce() > allowed {
				return
			}
		default:
			return
		}
	}
}

// startOne starts an order's workflow, or leaves it to the reconcile workflow.
func (s *starter) startOne(next queuedStart, inProgress *atomic.Int64) {
	inProgress.Store(next.queued.UnixNano())
	defer inProgress.Store(0)
	s.done.Add(1) // for the timer's function
	slow := time.AfterFunc(slowStart, func() {
		defer s.done.Done()
		s.slow.Add(1)
		s.runAdditional(s.concurrency)
	})
	defer func() {
		if slow.Stop() {
			s.done.Done()
		} else {
			s.slow.Add(-1)
		}
	}()
	if err := s.startQueued(next); err != nil {
		s.fail(next.ctx, next.order.ID, err)
	}
}

func (s *starter) startQueued(next queuedStart) error {
	if s.stopping.Err() != nil {
		return errStartStopped
	}
	ctx, cancel := context.WithCancel(next.ctx)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	return recovered.Call(ctx, s.log, func() error { return s.start(ctx, next.order) })
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
	for i := range s.inProgress {
		if queued := s.inProgress[i].Load(); queued != 0 {
			backlog.Waiting++
			backlog.Oldest = max(backlog.Oldest, time.Duration(now-queued))
		}
	}
	return backlog
}

package orders

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"despacho/internal/recovered"
)

const (
	// MaxStartConcurrency is how many workflows a process starts at once while no order was created
	// for creationPause: Temporal takes more a second from more callers. With 32 on its two processors
	// it recorded workflow tasks too late: its matching service gives a task that meets a waiting
	// poller one second to be recorded as started, else no worker gets it before its timeout is over.
	MaxStartConcurrency = 16
	creationPause       = 50 * time.Millisecond
	// startsBehind is how long orders wait before twice as many are started at once, though others
	// are created meanwhile.
	startsBehind = 2 * time.Second
	// In a burst, for burstTime from when more than burstQueue orders wait, a goroutine pauses before
	// a start for startPause times as long as the one before took, but for no longer than
	// maxStartPause: Temporal on the same machine leaves the processors to the answers. A burst ends
	// so that starts catch up with orders that are created without end.
	burstQueue    = 64
	burstTime     = 2 * time.Second
	startPause    = 3
	maxStartPause = 100 * time.Millisecond
	// slowStart is how long a start may take before another goroutine goes on beside it, so that one
	// order whose start hangs does not hold the others up.
	slowStart = time.Second
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

// startConcurrency is how many workflows a process starts at once while it creates orders: one for
// two processors. Where Temporal is on the same machine, more would hold the answers to creations
// up.
func startConcurrency() int { return min(max(1, runtime.GOMAXPROCS(0)/2), MaxStartConcurrency) }

// starter starts the workflows of created orders while their creations are answered. Its queue is
// in memory only: an order that does not fit or loses its process has no confirmed workflow in the
// database, where the reconcile workflow finds it.
type starter struct {
	log   *slog.Logger
	start func(context.Context, workflowStart) error
	// concurrency is how many are started at once while orders are created.
	concurrency int
	// moving is how many orders this process is moving.
	moving func() int

	mu     sync.RWMutex // a send needs the queue open
	closed bool
	queue  chan queuedStart
	added  atomic.Int64 // when an order was last queued, in Unix nanoseconds
	short  atomic.Int64 // when one was last queued behind no more than burstQueue others

	// running starts the goroutines with the first order: a worker's process creates none.
	running  sync.Once
	stopping context.Context
	stop     context.CancelFunc
	done     sync.WaitGroup

	// underWay has for each goroutine when its order was queued, in Unix nanoseconds; zero if it is
	// idle. The queue is first in, first out, so the oldest start is among them.
	underWay [MaxStartConcurrency]atomic.Int64
	// additional has the elements of underWay that no goroutine uses.
	additional chan *atomic.Int64
	slow       atomic.Int64 // starts that take longer than slowStart
	failed     atomic.Int64
	logged     atomic.Int64 // when a failure was last logged, in Unix nanoseconds
}

type queuedStart struct {
	ctx    context.Context
	order  workflowStart
	queued time.Time
}

func newStarter(log *slog.Logger, concurrency int, moving func() int, start func(context.Context, workflowStart) error) *starter {
	s := &starter{
		log: log, start: start, concurrency: concurrency, moving: moving,
		queue: make(chan queuedStart, startQueueSize), additional: make(chan *atomic.Int64, MaxStartConcurrency),
	}
	for i := concurrency; i < MaxStartConcurrency; i++ {
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
	now := time.Now()
	s.added.Store(now.UnixNano())
	if len(s.queue) <= burstQueue {
		s.short.Store(now.UnixNano())
	}
	s.running.Do(func() {
		for i := range s.concurrency {
			s.done.Go(func() { s.run(&s.underWay[i]) })
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
func (s *starter) run(underWay *atomic.Int64) {
	var took time.Duration // by the start before
	for next := range s.queue {
		if s.inBurst() {
			underWay.Store(next.queued.UnixNano())
			time.Sleep(min(startPause*took, maxStartPause))
		}
		s.runAdditional(s.allowed(next))
		began := time.Now()
		s.startOne(next, underWay)
		took = time.Since(began)
	}
}

// creating is whether an order was created within creationPause.
func (s *starter) creating() bool {
	return time.Now().UnixNano()-s.added.Load() <= int64(creationPause)
}

// inBurst is whether orders are created, and for burstTime at most more than burstQueue wait.
func (s *starter) inBurst() bool {
	return s.creating() && len(s.queue) > burstQueue && time.Now().UnixNano()-s.short.Load() <= int64(burstTime)
}

// allowed is how many workflows may be started at once when an order is the next. A move comes
// before a start: somebody waits for it, and it may itself start a workflow.
func (s *starter) allowed(next queuedStart) int {
	most := max(s.concurrency, MaxStartConcurrency-s.moving())
	if !s.creating() {
		return most
	}
	allowed := s.concurrency
	for waited := time.Since(next.queued); waited > startsBehind && allowed < most; waited -= startsBehind {
		allowed *= 2
	}
	return min(allowed, most)
}

// atOnce is how many goroutines start orders, without those whose start is slow.
func (s *starter) atOnce() int {
	return MaxStartConcurrency - len(s.additional) - int(s.slow.Load())
}

// runAdditional runs one more goroutine for what waits, unless there are as many as allowed.
func (s *starter) runAdditional(allowed int) {
	if len(s.queue) == 0 || s.atOnce() >= allowed {
		return
	}
	select {
	case underWay := <-s.additional:
		s.done.Go(func() {
			s.catchUp(underWay)
			s.additional <- underWay
			s.runAdditional(s.concurrency) // for an order that was queued as catchUp ended
		})
	default:
	}
}

// catchUp starts queued orders until none waits or there are more goroutines than allowed.
func (s *starter) catchUp(underWay *atomic.Int64) {
	for {
		select {
		case next, open := <-s.queue:
			if !open {
				return
			}
			allowed := s.allowed(next)
			s.runAdditional(allowed)
			s.startOne(next, underWay)
			if s.atOnce() > allowed {
				return
			}
		default:
			return
		}
	}
}

// startOne starts an order's workflow, or leaves it to the reconcile workflow.
func (s *starter) startOne(next queuedStart, underWay *atomic.Int64) {
	underWay.Store(next.queued.UnixNano())
	defer underWay.Store(0)
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
	for i := range s.underWay {
		if queued := s.underWay[i].Load(); queued != 0 {
			backlog.Waiting++
			backlog.Oldest = max(backlog.Oldest, time.Duration(now-queued))
		}
	}
	return backlog
}

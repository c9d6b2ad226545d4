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
	// maxWaitingStarts is how many created orders may wait for their start in memory, and
	// maxWaitingOfOperator how many of them may be one operator's: an uploaded file has 1,000.
	maxWaitingStarts, maxWaitingOfOperator = 4_096, 1_024
	// StartGracePeriod is how long the process that created or moved an order has to confirm its
	// workflow before the reconcile workflow looks after it. From then on both start what waits:
	// of two starts of an order's workflow, Temporal refuses one.
	StartGracePeriod = 32 * time.Second
)

var (
	errTooManyStarts = errors.New("too many orders wait for their start")
	errStartStopped  = errors.New("the process stops")
)

// starter starts the workflows of created orders while their creations are answered, those of the
// operators in turn: one that creates thousands does not delay the orders of the others. What waits
// is in memory only: an order that is too many or loses its process has no confirmed workflow in
// the database, where the reconcile workflow finds it.
type starter struct {
	log *slog.Logger
	// start starts a workflow within the trace of its request, until stop is called.
	start func(trace.SpanContext, workflowStart) error
	stop  context.CancelFunc

	mu     sync.Mutex
	closed bool
	// since has when each order was added that waits or is being started.
	since map[uuid.UUID]time.Time
	// waiting are the orders of each operator that wait, the oldest first, and turn the operators
	// that have any, the next one first.
	waiting map[uuid.UUID][]waitingStart
	turn    []uuid.UUID
	// starting is how many are being started, at most StartsAtOnce, each by a goroutine of done.
	starting int
	done     sync.WaitGroup

	failed atomic.Int64
	// warnings limits the log of failed starts: without Temporal every creation would write a line.
	warnings rate.Sometimes
}

// waitingStart is an order whose workflow is to be started, in the trace of its request.
type waitingStart struct {
	workflowStart
	span trace.SpanContext
}

func newStarter(log *slog.Logger, start func(context.Context, workflowStart) error) *starter {
	running, stop := context.WithCancel(context.Background())
	return &starter{
		log: log, stop: stop, since: map[uuid.UUID]time.Time{}, waiting: map[uuid.UUID][]waitingStart{},
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
	added := waitingStart{order, trace.SpanContextFromContext(ctx)}
	if s.closed {
		s.fail(added, errStartStopped)
		return
	}
	if len(s.since) == maxWaitingStarts || len(s.waiting[order.OperatorID]) == maxWaitingOfOperator {
		s.fail(added, errTooManyStarts)
		return
	}
	s.since[order.ID] = time.Now()
	if len(s.waiting[order.OperatorID]) == 0 {
		s.turn = append(s.turn, order.OperatorID)
	}
	s.waiting[order.OperatorID] = append(s.waiting[order.OperatorID], added)
	if s.starting < StartsAtOnce {
		s.starting++
		s.done.Go(s.startWaiting)
	}
}

// startWaiting starts one order after the other until none waits.
func (s *starter) startWaiting() {
	for {
		order, found := s.next()
		if !found {
			return
		}
		if err := s.start(order.span, order.workflowStart); err != nil {
			s.fail(order, err)
		}
		s.mu.Lock()
		delete(s.since, order.ID)
		s.mu.Unlock()
	}
}

// next takes the oldest order of the operator whose turn it is, which then has the last turn.
func (s *starter) next() (order waitingStart, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turn) == 0 {
		s.starting--
		return order, false
	}
	operatorID := s.turn[0]
	orders := s.waiting[operatorID]
	s.turn = s.turn[1:]
	if len(orders) == 1 {
		delete(s.waiting, operatorID)
	} else {
		s.waiting[operatorID] = orders[1:]
		s.turn = append(s.turn, operatorID)
	}
	return orders[0], true
}

// fail counts a start that is left to the reconcile workflow.
func (s *starter) fail(order waitingStart, err error) {
	failed := s.failed.Add(1)
	s.warnings.Do(func() {
		ctx := trace.ContextWithSpanContext(context.Background(), order.span)
		s.log.WarnContext(ctx, "orders stored but their workflows not started; the reconcile workflow will start them",
			"order_id", order.ID, "failed_so_far", failed, "error", err)
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
	backlog := StartBacklog{Waiting: len(s.since), Failed: s.failed.Load()}
	for _, added := range s.since {
		backlog.Oldest = max(backlog.Oldest, time.Since(added))
	}
	return backlog
}

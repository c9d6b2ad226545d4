package events

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/recovered"
)

const (
	// pollInterval is the time between two polls for new events while a request waits.
	pollInterval = 200 * time.Millisecond
	// pollTimeout bounds one poll.
	pollTimeout = 5 * time.Second
)

// waiters are the requests that wait for events. One goroutine of the process polls the database
// for new events of all their operators, and wakes the requests.
type waiters struct {
	db  *db.DB
	log *slog.Logger
	// stopped is closed when no request may wait any more.
	stopped chan struct{}
	stop    func()

	mu         sync.Mutex
	byOperator map[uuid.UUID]*operatorWaiters
	// polling means that the goroutine runs.
	polling bool
}

// operatorWaiters are the requests that wait for events of one operator.
type operatorWaiters struct {
	// head is the operator's number in feedHeads at the last poll; -1 before the first one.
	head int64
	// woken are the channels of the requests.
	woken map[chan struct{}]struct{}
}

func newWaiters(database *db.DB, log *slog.Logger) *waiters {
	w := &waiters{db: database, log: log, stopped: make(chan struct{}), byOperator: map[uuid.UUID]*operatorWaiters{}}
	w.stop = sync.OnceFunc(func() { close(w.stopped) })
	return w
}

// subscribe returns a channel that gets a value when the operator may have events that were
// published after the call.
func (w *waiters) subscribe(operatorID uuid.UUID) (woken <-chan struct{}, unsubscribe func()) {
	channel := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	operator := w.byOperator[operatorID]
	if operator == nil {
		operator = &operatorWaiters{head: -1, woken: map[chan struct{}]struct{}{}}
		w.byOperator[operatorID] = operator
	}
	operator.woken[channel] = struct{}{}
	if !w.polling {
		w.polling = true
		go w.poll()
	}
	return channel, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(operator.woken, channel); len(operator.woken) == 0 {
			delete(w.byOperator, operatorID)
		}
	}
}

// poll polls for new events until no request waits.
func (w *waiters) poll() {
	for {
		select {
		case <-w.stopped:
			return
		case <-time.After(pollInterval):
		}
		operators := w.operators()
		if len(operators) == 0 {
			return
		}
		if err := w.pollOnce(operators); err != nil {
			w.log.Warn("no look for new events; trying again", "error", err)
		}
	}
}

// pollOnce looks for new events of operators and wakes the requests that wait for them.
func (w *waiters) pollOnce(operators []uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.Background(), pollTimeout)
	defer cancel()
	return recovered.Call(ctx, w.log, func() error {
		heads, err := feedHeads(ctx, w.db, operators)
		if err == nil {
			w.wake(heads)
		}
		return err
	})
}

// operators are those whose events are waited for. Without any the polling ends.
func (w *waiters) operators() []uuid.UUID {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.polling = len(w.byOperator) > 0
	return slices.Collect(maps.Keys(w.byOperator))
}

// wake wakes the requests of the operators that have new events since the last poll, and of those
// that were not polled before: something may have been published since the requests subscribed.
func (w *waiters) wake(heads map[uuid.UUID]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for operatorID, head := range heads {
		operator := w.byOperator[operatorID]
		if operator == nil || operator.head == head {
			continue
		}
		operator.head = head
		for channel := range operator.woken {
			select {
			case channel <- struct{}{}:
			default: // it is awake already
			}
		}
	}
}

package events

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/recovered"
)

const (
	// lookInterval is the time between two looks for new events while somebody waits.
	lookInterval = 200 * time.Millisecond
	// lookTimeout bounds one look.
	lookTimeout = 5 * time.Second
)

// waiters are the requests that wait for events. However many they are, one goroutine of the
// process looks whether their operators have new events, and wakes those whose operator has.
type waiters struct {
	db  *db.DB
	log *slog.Logger
	// stopped is closed when nobody may wait any more.
	stopped chan struct{}
	stop    func()

	mu         sync.Mutex
	byOperator map[uuid.UUID]*operatorWaiters
	looking    bool
}

// operatorWaiters are the requests that wait for events of one operator.
type operatorWaiters struct {
	// head is the position of the newest event at the last look; -1 before the first one.
	head  int64
	woken map[chan struct{}]struct{}
}

func newWaiters(database *db.DB, log *slog.Logger) *waiters {
	w := &waiters{db: database, log: log, stopped: make(chan struct{}), byOperator: map[uuid.UUID]*operatorWaiters{}}
	w.stop = sync.OnceFunc(func() { close(w.stopped) })
	return w
}

// enter returns a channel that gets a value when the operator may have events that were published
// after the call.
func (w *waiters) enter(operatorID uuid.UUID) (woken <-chan struct{}, leave func()) {
	channel := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.byOperator[operatorID]
	if of == nil {
		of = &operatorWaiters{head: -1, woken: map[chan struct{}]struct{}{}}
		w.byOperator[operatorID] = of
	}
	of.woken[channel] = struct{}{}
	if !w.looking {
		w.looking = true
		go w.look()
	}
	return channel, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(of.woken, channel); len(of.woken) == 0 {
			delete(w.byOperator, operatorID)
		}
	}
}

// look looks for new events until nobody waits.
func (w *waiters) look() {
	for {
		select {
		case <-w.stopped:
			return
		case <-time.After(lookInterval):
		}
		operators := w.operators()
		if len(operators) == 0 {
			return
		}
		if err := w.lookOnce(operators); err != nil {
			w.log.Warn("no look for new events; trying again", "error", err)
		}
	}
}

// lookOnce looks for new events of operators and wakes those who wait for them.
func (w *waiters) lookOnce(operators []uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	return recovered.Call(ctx, w.log, func() error {
		heads, err := w.db.FeedHeads(ctx, operators)
		if err == nil {
			w.wake(heads)
		}
		return err
	})
}

// operators are those whose events are waited for. Without any the looking ends.
func (w *waiters) operators() []uuid.UUID {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = len(w.byOperator) > 0
	return slices.Collect(maps.Keys(w.byOperator))
}

// wake wakes the waiters of the operators that have another newest event than at the last look, and
// of those that were not looked at before: something may have been published since they entered.
func (w *waiters) wake(heads map[uuid.UUID]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for operatorID, head := range heads {
		of := w.byOperator[operatorID]
		if of == nil || of.head == head {
			continue
		}
		of.head = head
		for channel := range of.woken {
			select {
			case channel <- struct{}{}:
			default: // it is awake already
			}
		}
	}
}

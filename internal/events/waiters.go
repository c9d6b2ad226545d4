package events

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

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
// for new events of all their sources, and wakes the requests.
type waiters struct {
	db  *db.DB
	log *slog.Logger
	// stopped is closed when no request may wait any more.
	stopped chan struct{}
	stop    func()

	mu       sync.Mutex
	bySource map[source]*sourceWaiters
	// polling means that the goroutine runs.
	polling bool
}

// sourceWaiters are the requests that wait for events of one source: those of a store are not woken
// by the events of its operator's other stores.
type sourceWaiters struct {
	// head is the source's number in feedHeads at the last poll; -1 before the first one.
	head int64
	// woken are the channels of the requests.
	woken map[chan struct{}]struct{}
}

func newWaiters(database *db.DB, log *slog.Logger) *waiters {
	w := &waiters{db: database, log: log, stopped: make(chan struct{}), bySource: map[source]*sourceWaiters{}}
	w.stop = sync.OnceFunc(func() { close(w.stopped) })
	return w
}

// subscribe returns a channel that gets a value when the source may have events that were published
// after the call.
func (w *waiters) subscribe(of source) (woken <-chan struct{}, unsubscribe func()) {
	channel := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.bySource[of]
	if waiting == nil {
		waiting = &sourceWaiters{head: -1, woken: map[chan struct{}]struct{}{}}
		w.bySource[of] = waiting
	}
	waiting.woken[channel] = struct{}{}
	if !w.polling {
		w.polling = true
		go w.poll()
	}
	return channel, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(waiting.woken, channel); len(waiting.woken) == 0 {
			delete(w.bySource, of)
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
		sources := w.sources()
		if len(sources) == 0 {
			return
		}
		if err := w.pollOnce(sources); err != nil {
			w.log.Warn("no look for new events; trying again", "error", err)
		}
	}
}

// pollOnce looks for new events of sources and wakes the requests that wait for them.
func (w *waiters) pollOnce(sources []source) error {
	ctx, cancel := context.WithTimeout(context.Background(), pollTimeout)
	defer cancel()
	return recovered.Call(ctx, w.log, func() error {
		heads, err := feedHeads(ctx, w.db, sources)
		if err == nil {
			w.wake(heads)
		}
		return err
	})
}

// sources are those whose events are waited for. Without any the polling ends.
func (w *waiters) sources() []source {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.polling = len(w.bySource) > 0
	return slices.Collect(maps.Keys(w.bySource))
}

// wake wakes the requests of the sources that have new events since the last poll, and of those
// that were not polled before: something may have been published since the requests subscribed.
func (w *waiters) wake(heads map[source]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for of, head := range heads {
		waiting := w.bySource[of]
		if waiting == nil || waiting.head == head {
			continue
		}
		waiting.head = head
		for channel := range waiting.woken {
			select {
			case channel <- struct{}{}:
			default: // it is awake already
			}
		}
	}
}

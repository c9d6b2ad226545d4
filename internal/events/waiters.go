package events

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"despacho/internal/recovered"
)

const (
	// eventsInterval is the time between two polls for new events while a request waits,
	// changesInterval that for changes of orders while a list is open.
	eventsInterval, changesInterval = 200 * time.Millisecond, time.Second
	// pollTimeout bounds one poll.
	pollTimeout = 5 * time.Second
)

// waiters are the requests that wait for something new, such as events. One goroutine of the
// process polls the database for all their sources, and wakes the requests.
type waiters[H comparable] struct {
	// heads returns a value for each source that is another one when there is something new.
	heads    func(context.Context, []source) (map[source]H, error)
	interval time.Duration
	// again means that a request is woken at its first poll, because of what has come before it waits,
	// and once more at the poll after a new head: what was written before and committed later does not
	// change the head.
	again bool
	log   *slog.Logger
	// stopped is closed when no request may wait any more.
	stopped chan struct{}
	stop    func()

	mu       sync.Mutex
	bySource map[source]*sourceWaiters[H]
	// polling means that the goroutine runs.
	polling bool
}

// sourceWaiters are the requests that wait for events of one source: those of a store are not woken
// by the events of its operator's other stores.
type sourceWaiters[H comparable] struct {
	// head is that of the last poll; polled is false before the first one.
	head   H
	polled bool
	// again means that the next poll wakes the requests whatever the head is.
	again bool
	// woken are the channels of the requests; true until their first poll.
	woken map[chan struct{}]bool
}

func newWaiters[H comparable](
	interval time.Duration, again bool, log *slog.Logger, heads func(context.Context, []source) (map[source]H, error),
) *waiters[H] {
	w := &waiters[H]{heads: heads, interval: interval, again: again, log: log, stopped: make(chan struct{}),
		bySource: map[source]*sourceWaiters[H]{}}
	w.stop = sync.OnceFunc(func() { close(w.stopped) })
	return w
}

// subscribe returns a channel that gets a value when the source may have something new since the
// call.
func (w *waiters[H]) subscribe(of source) (woken <-chan struct{}, unsubscribe func()) {
	channel := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.bySource[of]
	if waiting == nil {
		waiting = &sourceWaiters[H]{woken: map[chan struct{}]bool{}}
		w.bySource[of] = waiting
	}
	waiting.woken[channel] = true
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

// poll polls until no request waits.
func (w *waiters[H]) poll() {
	for {
		select {
		case <-w.stopped:
			return
		case <-time.After(w.interval):
		}
		sources := w.sources()
		if len(sources) == 0 {
			return
		}
		if err := w.pollOnce(sources); err != nil {
			w.log.Warn("no look for something new; trying again", "error", err)
		}
	}
}

// pollOnce looks for something new of sources and wakes the requests that wait for it.
func (w *waiters[H]) pollOnce(sources []source) error {
	ctx, cancel := context.WithTimeout(context.Background(), pollTimeout)
	defer cancel()
	return recovered.Call(ctx, w.log, func() error {
		heads, err := w.heads(ctx, sources)
		if err == nil {
			w.wake(heads)
		}
		return err
	})
}

// sources are those that requests wait for. Without any the polling ends.
func (w *waiters[H]) sources() []source {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.polling = len(w.bySource) > 0
	return slices.Collect(maps.Keys(w.bySource))
}

// wake wakes the requests of the sources that have something new since the last poll, and of those
// that were not polled before: it may have come since the requests subscribed.
func (w *waiters[H]) wake(heads map[source]H) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for of, head := range heads {
		waiting := w.bySource[of]
		if waiting == nil {
			continue
		}
		changed, settled := !waiting.polled || waiting.head != head, waiting.again
		waiting.again = w.again && changed && waiting.polled
		waiting.head, waiting.polled = head, true
		for channel, first := range waiting.woken {
			waiting.woken[channel] = false
			if !changed && !settled && !(w.again && first) {
				continue
			}
			select {
			case channel <- struct{}{}:
			default: // it is awake already
			}
		}
	}
}

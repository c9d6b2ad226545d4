// Package batch coalesces concurrent lookups into one query. The first lookup runs at once; lookups
// that arrive while a query is running share the next one.
package batch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"despacho/internal/recovered"
)

// Options tune a Batcher.
type Options struct {
	// MaxSize is the largest number of lookups in one query.
	MaxSize int
	// StallAfter is how long a query may run before the next one starts without waiting for it.
	StallAfter time.Duration
	// Timeout bounds a query. It is independent of any caller's context: the query serves several.
	Timeout time.Duration
	// Log is told of a query that panics, with its stack.
	Log *slog.Logger
}

// Batcher coalesces lookups of one kind.
type Batcher[K, V any] struct {
	options Options
	query   func(ctx context.Context, keys []K) ([]V, error)

	mu sync.Mutex
	// running says that a query is running and has not stalled.
	running bool
	waiting []*lookup[K, V]
}

type lookup[K, V any] struct {
	trace trace.SpanContext // of the caller
	key   K
	value V
	err   error
	done  chan struct{}
}

// New makes a Batcher. query returns the values of all keys, in their order; it belongs to the
// first caller's trace.
func New[K, V any](options Options, query func(ctx context.Context, keys []K) ([]V, error)) *Batcher[K, V] {
	return &Batcher[K, V]{options: options, query: query}
}

// Get returns the value of a key. If ctx ends first, Get returns its error; the key may be queried
// all the same.
func (b *Batcher[K, V]) Get(ctx context.Context, key K) (V, error) {
	mine := &lookup[K, V]{trace: trace.SpanContextFromContext(ctx), key: key, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, mine)
	start := !b.running
	b.running = true
	b.mu.Unlock()
	if start {
		go b.run()
	}
	select {
	case <-mine.done:
		return mine.value, mine.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Waiting is how many lookups wait for the next query.
func (b *Batcher[K, V]) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}

// run queries batch after batch until no lookup waits. When a query stalls, another goroutine goes
// on in its place and this one ends with its query.
func (b *Batcher[K, V]) run() {
	for {
		b.mu.Lock()
		batch := b.next()
		b.running = len(batch) > 0
		b.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		stalled := time.AfterFunc(b.options.StallAfter, b.run)
		b.runBatch(batch)
		if !stalled.Stop() {
			return
		}
	}
}

// next removes the lookups of the next query from those that wait.
func (b *Batcher[K, V]) next() []*lookup[K, V] {
	size := min(len(b.waiting), b.options.MaxSize)
	batch := b.waiting[:size:size]
	b.waiting = b.waiting[size:]
	return batch
}

func (b *Batcher[K, V]) runBatch(batch []*lookup[K, V]) {
	keys := make([]K, len(batch))
	for i, l := range batch {
		keys[i] = l.key
	}
	values, err := b.queryRecovered(batch[0].trace, keys)
	for i, l := range batch {
		if l.err = err; err == nil {
			l.value = values[i]
		}
		close(l.done)
	}
}

// queryRecovered turns a panic into an error: it must fail the lookups that share the query, not
// the process.
func (b *Batcher[K, V]) queryRecovered(caller trace.SpanContext, keys []K) (values []V, err error) {
	ctx, cancel := context.WithTimeout(trace.ContextWithSpanContext(context.Background(), caller), b.options.Timeout)
	defer cancel()
	err = recovered.Call(ctx, b.options.Log, func() (err error) {
		values, err = b.query(ctx, keys)
		return err
	})
	if err == nil && len(values) != len(keys) {
		err = fmt.Errorf("batch: %d values for %d keys", len(values), len(keys))
	}
	return values, err
}

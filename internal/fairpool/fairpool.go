// Package fairpool is a semaphore that serves the keys of its waiters in turn.
package fairpool

import (
	"context"
	"slices"
	"sync"
)

// Pool has a fixed number of slots. Those who wait are served key by key in turn, so that the many
// requests of one key delay a request of another by no more than one slot's use.
type Pool struct {
	perKey int

	mu   sync.Mutex
	free int
	held map[string]int
	// waiting has the waiters of each key in their order of arrival; keys lists the keys that wait,
	// the next to be served first.
	waiting map[string][]chan struct{}
	keys    []string
}

// New returns a pool of size slots, of which one key can hold perKey.
func New(size, perKey int) *Pool {
	return &Pool{perKey: perKey, free: size, held: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// Acquire waits for a slot until ctx ends. release returns the slot; calls after the first do
// nothing.
func (p *Pool) Acquire(ctx context.Context, key string) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	granted := make(chan struct{})
	p.mu.Lock()
	if len(p.waiting[key]) == 0 {
		p.keys = append(p.keys, key)
	}
	p.waiting[key] = append(p.waiting[key], granted)
	p.grant()
	p.mu.Unlock()
	select {
	case <-granted:
	case <-ctx.Done():
		if p.leave(key, granted) {
			return nil, ctx.Err()
		}
	}
	return sync.OnceFunc(func() { p.release(key) }), nil
}

// TryAcquire is Acquire for a slot that is free at once; ok is false if there is none. It overtakes
// nobody of the same key: while one waits, the key holds all it can or no slot is free.
func (p *Pool) TryAcquire(key string) (release func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isFreeFor(key) {
		return nil, false
	}
	p.take(key)
	return sync.OnceFunc(func() { p.release(key) }), true
}

// grant gives the free slots to waiters. The caller holds the mutex.
func (p *Pool) grant() {
	for p.free > 0 {
		i := slices.IndexFunc(p.keys, p.isFreeFor)
		if i < 0 {
			return
		}
		key := p.keys[i]
		p.keys = slices.Delete(p.keys, i, i+1)
		first, rest := p.waiting[key][0], p.waiting[key][1:]
		if p.waiting[key] = rest; len(rest) == 0 {
			delete(p.waiting, key)
		} else {
			p.keys = append(p.keys, key)
		}
		p.take(key)
		close(first)
	}
}

// isFreeFor reports whether the key may take a slot at once. The caller holds the mutex.
func (p *Pool) isFreeFor(key string) bool { return p.free > 0 && p.held[key] < p.perKey }

// take takes a free slot for the key. The caller holds the mutex.
func (p *Pool) take(key string) {
	p.free--
	p.held[key]++
}

// leave removes a waiter. It returns false for one that was granted its slot meanwhile.
func (p *Pool) leave(key string, granted chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.waiting[key], granted)
	if i < 0 {
		return false
	}
	if p.waiting[key] = slices.Delete(p.waiting[key], i, i+1); len(p.waiting[key]) == 0 {
		delete(p.waiting, key)
		p.keys = slices.DeleteFunc(p.keys, func(waiting string) bool { return waiting == key })
	}
	return true
}

func (p *Pool) release(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.held[key]--; p.held[key] == 0 {
		delete(p.held, key)
	}
	p.grant()
}

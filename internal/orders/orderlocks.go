package orders

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// orderLocks lets one request at a time of this process move an order. The next one decides on
// the row that the one before it left, so that of many equal requests one succeeds.
type orderLocks struct {
	mu sync.Mutex
	// locks has one for every order that is being moved.
	locks map[uuid.UUID]*orderLock
}

// orderLock is held by the request that has put a value into slot. users are that one and those
// that wait for it.
type orderLock struct {
	slot  chan struct{}
	users int
}

func newOrderLocks() *orderLocks { return &orderLocks{locks: map[uuid.UUID]*orderLock{}} }

// count is how many orders are being moved.
func (l *orderLocks) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.locks)
}

// acquire waits until no other request moves the order; waited is true if there was one.
func (l *orderLocks) acquire(ctx context.Context, id uuid.UUID) (release func(), waited bool, err error) {
	l.mu.Lock()
	lock, known := l.locks[id]
	if !known {
		lock = &orderLock{slot: make(chan struct{}, 1)}
		l.locks[id] = lock
	}
	lock.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if lock.users--; lock.users == 0 {
			delete(l.locks, id)
		}
	}
	select {
	case lock.slot <- struct{}{}:
		return func() { <-lock.slot; leave() }, known, nil
	case <-ctx.Done():
		leave()
		return nil, known, ctx.Err()
	}
}

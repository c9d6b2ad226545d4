package orders

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// orderLocks lets one request at a time of this process move an order. The next one decides on the
// row that the one before it left: equal requests share one update of the workflow, and of those
// that are made at once only one has moved the order.
type orderLocks struct {
	mu sync.Mutex
	// moving has a channel for every order that is being moved, closed when it no longer is.
	moving map[uuid.UUID]chan struct{}
}

// acquire waits until no other request moves the order; waited is true if there was one.
func (l *orderLocks) acquire(ctx context.Context, id uuid.UUID) (release func(), waited bool, err error) {
	for {
		l.mu.Lock()
		other, isMoving := l.moving[id]
		if !isMoving {
			done := make(chan struct{})
			l.moving[id] = done
			l.mu.Unlock()
			return func() { l.release(id, done) }, waited, nil
		}
		l.mu.Unlock()
		waited = true
		select {
		case <-other:
		case <-ctx.Done():
			return nil, true, ctx.Err()
		}
	}
}

func (l *orderLocks) release(id uuid.UUID, done chan struct{}) {
	l.mu.Lock()
	delete(l.moving, id)
	l.mu.Unlock()
	close(done)
}

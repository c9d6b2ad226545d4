package orders

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// movingOrders lets one request at a time of this process move an order. The next one decides on
// the row that the one before it left, so that of many equal requests one succeeds.
type movingOrders struct {
	mu sync.Mutex
	// waiting holds, for every order that is being moved, a channel with room for one holder.
	waiting map[uuid.UUID]*moving
}

type moving struct {
	slot  chan struct{}
	users int
}

func newMovingOrders() *movingOrders { return &movingOrders{waiting: map[uuid.UUID]*moving{}} }

// count is how many orders are being moved.
func (m *movingOrders) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}

// acquire waits until no other request moves the order; waited is true if there was one.
func (m *movingOrders) acquire(ctx context.Context, id uuid.UUID) (release func(), waited bool, err error) {
	m.mu.Lock()
	order, known := m.waiting[id]
	if !known {
		order = &moving{slot: make(chan struct{}, 1)}
		m.waiting[id] = order
	}
	order.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if order.users--; order.users == 0 {
			delete(m.waiting, id)
		}
	}
	select {
	case order.slot <- struct{}{}:
		return func() { <-order.slot; leave() }, known, nil
	case <-ctx.Done():
		leave()
		return nil, known, ctx.Err()
	}
}

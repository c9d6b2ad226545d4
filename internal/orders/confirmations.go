package orders

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/recovered"
)

// startConfirmations records in batches which orders have a running workflow. It only saves the
// reconcile workflow from checking them, so it may lag or be lost.
type startConfirmations struct {
	db    *db.DB
	clock clock.Clock
	log   *slog.Logger

	mu     sync.RWMutex // a send needs the channel open
	closed bool
	orders chan db.OrderVersion
	done   chan struct{}
}

const (
	flushInterval = 200 * time.Millisecond
	flushSize     = 500
)

func newStartConfirmations(database *db.DB, clk clock.Clock, log *slog.Logger) *startConfirmations {
	c := &startConfirmations{db: database, clock: clk, log: log, orders: make(chan db.OrderVersion, 4*flushSize), done: make(chan struct{})}
	go c.run()
	return c
}

// add records that an order's workflow runs. What outlives the process's grace for stopping, such
// as a request with many orders, may call it after close: the reconcile workflow will check that
// order.
func (c *startConfirmations) add(id uuid.UUID, seq int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return
	}
	select {
	case c.orders <- db.OrderVersion{ID: id, Seq: seq}:
	default: // the buffer is full because the database is slow; the reconcile workflow will check the order
	}
}

func (c *startConfirmations) close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.orders)
	}
	c.mu.Unlock()
	<-c.done
}

func (c *startConfirmations) run() {
	defer close(c.done)
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	var batch []db.OrderVersion
	for {
		select {
		case order, open := <-c.orders:
			if !open {
				c.write(batch)
				return
			}
			if batch = append(batch, order); len(batch) < flushSize {
				continue
			}
		case <-tick.C:
		}
		c.write(batch)
		batch = batch[:0]
	}
}

func (c *startConfirmations) write(batch []db.OrderVersion) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := recovered.Call(ctx, c.log, func() error { return c.db.MarkWorkflowsStarted(ctx, batch, c.clock.Now()) })
	if err != nil {
		c.log.Warn("started workflows not marked; the reconcile workflow will find them running", "count", len(batch), "error", err)
	}
}

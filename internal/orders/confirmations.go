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

// startConfirmations records in batches which orders have a running workflow: one statement for
// each would be one more transaction for every creation and every move. It only saves the reconcile
// workflow from checking them, so it may lag or be lost.
type startConfirmations struct {
	db    *db.DB
	clock clock.Clock
	log   *slog.Logger

	mu      sync.Mutex
	closed  bool
	waiting []orderVersion
	writing sync.Mutex
}

const (
	flushInterval = 200 * time.Millisecond
	// maxConfirmations bounds what waits while the database is slow.
	maxConfirmations = 2000
)

// add records that an order's workflow runs. What outlives the process's grace for stopping, such
// as a request with many orders, may call it after close.
func (c *startConfirmations) add(id uuid.UUID, seq int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.waiting) == maxConfirmations {
		return
	}
	if len(c.waiting) == 0 {
		time.AfterFunc(flushInterval, c.write)
	}
	c.waiting = append(c.waiting, orderVersion{id, seq})
}

// close writes what waits.
func (c *startConfirmations) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.write()
}

func (c *startConfirmations) write() {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	batch := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := recovered.Call(ctx, c.log, func() error { return markWorkflowsStarted(ctx, c.db, batch, c.clock.Now()) })
	if err != nil {
		c.log.Warn("started workflows not marked; the reconcile workflow will find them running", "count", len(batch), "error",
			err)
	}
}

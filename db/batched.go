package db

import (
	"time"

	"despacho/internal/batch"
	"despacho/models"
)

// batched coalesces the two most frequent lookups of the API, by key and by order id, into shared
// PostgreSQL statements. They are scanned without GORM. SQLite runs in the process and has no round
// trips to save.
type batched struct {
	keys   *batch.Batcher[keyLookup, *KeyHolder]
	orders *batch.Batcher[orderLookup, *models.OrderView]
}

// batchOptions applies to both batchers. A stalled statement has most likely lost its connection,
// so other lookups do not wait for it.
var batchOptions = batch.Options{MaxSize: 64, StallAfter: 50 * time.Millisecond, Timeout: 10 * time.Second}

func newBatched(d *DB) *batched {
	return &batched{
		keys:   batch.New(batchOptions, d.authenticateBatch),
		orders: batch.New(batchOptions, d.readOrders),
	}
}

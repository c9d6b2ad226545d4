package db

import (
	"time"

	"despacho/internal/batch"
	"despacho/models"
)

// batched is what PostgreSQL is asked for by many requests at once: who a key belongs to, and one
// order. These two make up nearly all that a store's polling costs, so they are read by hand, and
// requests that come in together share a statement. SQLite lives in the process: there is no trip
// to share.
type batched struct {
	keys   *batch.Batcher[keyQuestion, *KeyHolder]
	orders *batch.Batcher[orderQuestion, *models.OrderView]
}

// sharing is the same for both. A statement that is late has most likely lost its connection:
// nobody else should wait for it.
var sharing = batch.Options{MaxSize: 64, StallAfter: 50 * time.Millisecond, Timeout: 10 * time.Second}

func newBatched(d *DB) *batched {
	return &batched{
		keys:   batch.New(sharing, d.authenticateTogether),
		orders: batch.New(sharing, d.readOrders),
	}
}

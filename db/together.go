package db

import (
	"time"

	"despacho/internal/batch"
	"despacho/models"
)

// together is what PostgreSQL is asked for by many requests at once: who a key belongs to, and one order. These two make up nearly all
// that a store's polling costs, so they are read by hand, and requests that come in together share a statement. SQLite lives in the
// process: there is no trip to share.
type together struct {
	keys   *batch.Group[keyQuestion, *KeyHolder]
	orders *batch.Group[orderQuestion, *models.OrderView]
}

// sharing is the same for both. A statement that is late has most likely lost its connection: nobody else should wait for it.
var sharing = batch.Options{Seats: 64, Late: 50 * time.Millisecond, Timeout: 10 * time.Second}

func newTogether(d *DB) *together {
	return &together{
		keys:   batch.New(sharing, d.authenticateTogether),
		orders: batch.New(sharing, d.readOrders),
	}
}

package db

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"despacho/internal/gather"
	"despacho/models"
)

// together is what PostgreSQL is asked for by many requests at once: who a key belongs to, and one order. These two make up nearly all
// that a store's polling costs, so they go without GORM's building of statements and reflection, and requests that come in together
// share a statement. SQLite lives in the process: there is no trip to share.
type together struct {
	keys   *gather.Group[keyQuestion, *KeyHolder]
	orders *gather.Group[orderQuestion, *models.OrderView]
}

// sharing is the same for both. Two trips: one is read while PostgreSQL works on the other.
var sharing = gather.Options{Trips: 2, Seats: 64, Timeout: 10 * time.Second}

func newTogether(d *DB) *together {
	return &together{
		keys:   gather.New(sharing, d.authenticateTogether),
		orders: gather.New(sharing, d.readOrders),
	}
}

// array is a list as one argument of PostgreSQL's; GORM would make several of a slice.
func array[T any](list []T) pgtype.Array[T] {
	return pgtype.Array[T]{Elements: list, Dims: []pgtype.ArrayDimension{{Length: int32(len(list)), LowerBound: 1}}, Valid: true}
}

package orders

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/clock"
)

const (
	// worthKeeping is how long a list must be before counting it again costs more than remembering.
	minCachedTotal = 1_000
	// settledAfter is how long after its creation an order is surely written: longer than any
	// request takes and clocks are apart.
	settledAfter = time.Minute
	// recountAfter is how long a remembered count is built upon. Nothing of ours takes an order
	// away, but people repair databases.
	recountAfter = 10 * time.Minute
	maxTotals    = 1000
)

// totals counts lists of orders. Orders are never deleted and keep the time of their creation, so
// how many were created before a while ago does not change: of a long list only the latest are
// counted again. The count is exact all the same.
type totals struct {
	db    *db.DB
	clock clock.Clock

	mu     sync.Mutex
	cached map[totalKey]cachedTotal
}

// totalKey is a list whose orders never leave it.
type totalKey struct {
	operator, store uuid.UUID
	from, until     time.Time
}

type cachedTotal struct {
	// count is how many orders were created before until.
	count            int64
	until, countedAt time.Time
}

func newTotals(database *db.DB, clk clock.Clock) *totals {
	return &totals{db: database, clock: clk, cached: map[totalKey]cachedTotal{}}
}

func (t *totals) count(ctx context.Context, scope db.OrderScope, filter db.OrderFilter) (int64, error) {
	key, lasting := keyOf(scope, filter)
	if !lasting {
		all, _, err := t.db.CountOrdersSince(ctx, scope, filter, time.Time{}, time.Time{})
		return all, err
	}
	now := t.clock.Now()
	known := t.lookup(key, now)
	settled := now.Add(-settledAfter)
	if settled.Before(known.until) {
		settled = known.until
	}
	recent, recentSettled, err := t.db.CountOrdersSince(ctx, scope, filter, known.until, settled)
	if err != nil {
		return 0, err
	}
	t.store(key, cachedTotal{count: known.count + recentSettled, until: settled, countedAt: known.countedAt})
	return known.count + recent, nil
}

// recall is what is known of a list: nothing, for one that is short or was counted long ago.
func (t *totals) lookup(key totalKey, now time.Time) cachedTotal {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.cached[key]; ok && now.Sub(known.countedAt) < recountAfter {
		return known
	}
	return cachedTotal{countedAt: now}
}

func (t *totals) store(key totalKey, total cachedTotal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if total.count < minCachedTotal {
		return
	}
	if len(t.cached) >= maxTotals {
		clear(t.cached) // rare, and only costs counting again
	}
	t.cached[key] = total
}

// keyOf names a list; lasting is false for one that orders can leave again.
func keyOf(scope db.OrderScope, filter db.OrderFilter) (key totalKey, lasting bool) {
	if filter.Status != "" || filter.WithoutPoint || filter.RiderID != nil || filter.LocationID != nil || len(filter.Words) > 0 {
		return key, false
	}
	key.operator = scope.OperatorID
	for _, store := range []*uuid.UUID{filter.StoreID, scope.StoreID} {
		if store != nil && key.store != uuid.Nil && key.store != *store {
			return key, false // two stores at once: an empty list
		}
		if store != nil {
			key.store = *store
		}
	}
	if filter.From != nil {
		key.from = *filter.From
	}
	if filter.Until != nil {
		key.until = *filter.Until
	}
	return key, true
}

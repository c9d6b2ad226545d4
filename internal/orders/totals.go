package orders

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
)

const (
	// minCachedTotal is the smallest count that is cached.
	minCachedTotal = 1_000
	// settledAfter is the age from which no order can still appear: longer than any request takes
	// plus clock differences.
	settledAfter = time.Minute
	// recountAfter is how long a cached count is used, in case rows are deleted by hand.
	recountAfter = 10 * time.Minute
	maxTotals    = 1000
)

// totals counts lists of orders. Orders are never deleted and their creation time never changes, so
// the count of older orders is cached and only recent ones are counted again. The total stays
// exact.
type totals struct {
	db    *db.DB
	clock clock.Clock

	mu     sync.Mutex
	cached map[totalKey]cachedTotal
}

// totalKey identifies a list that orders never leave.
type totalKey struct {
	operator, store uuid.UUID
	test            bool
	from, until     time.Time
}

type cachedTotal struct {
	// count is the number of orders created before until.
	count            int64
	until, countedAt time.Time
}

func newTotals(database *db.DB, clk clock.Clock) *totals {
	return &totals{db: database, clock: clk, cached: map[totalKey]cachedTotal{}}
}

func (t *totals) count(ctx context.Context, scope db.OrderScope, filter db.OrderFilter) (int64, error) {
	key, cacheable := keyOf(scope, filter)
	if !cacheable {
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

// lookup returns the cached count of a list; zero if there is none or it is too old.
func (t *totals) lookup(key totalKey, now time.Time) cachedTotal {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.cached[key]; ok {
		// A negative age means that the clock was set back: orders may be created before until
		// again.
		if age := now.Sub(known.countedAt); age >= 0 && age < recountAfter {
			return known
		}
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
		clear(t.cached) // rare; the next counts start from zero
	}
	t.cached[key] = total
}

// keyOf identifies a list; cacheable is false for one that orders can leave again, or enter long
// after their creation.
func keyOf(scope db.OrderScope, filter db.OrderFilter) (key totalKey, cacheable bool) {
	if filter.Status != "" || filter.ByDelivery || filter.WithoutPoint || filter.RiderID != nil || filter.LocationID != nil || filter.ExternalID != "" || len(filter.Search) > 0 {
		return key, false
	}
	key.operator, key.test = scope.OperatorID, scope.Test
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

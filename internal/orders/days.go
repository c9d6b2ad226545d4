package orders

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/inflight"
)

const (
	// rereadAfter is how long days are used: rows that were deleted or changed by hand leave no trace.
	rereadAfter = time.Hour
	// maxDayLists bounds the lists whose days are kept.
	maxDayLists = 200
	// maxRanges is how many ranges of changed days are read; of more, the nearest are joined.
	maxRanges = 10
	// pieceDays is how many days are read at once where all of them were too many for one request.
	pieceDays = 31
)

// dayCache caches totals of lists of orders by day of creation. Whoever writes an order sets its
// updated_at, so only the days of orders that were written since the last look are read again. What
// is returned is exact but for deleted rows. A day is the number of days since 1970.
type dayCache[T any] struct {
	db    *db.DB
	clock clock.Clock
	// read reads the days of a filter's orders; those without orders are left out.
	read func(ctx context.Context, scope db.OrderScope, filter db.OrderFilter, zone *time.Location) (map[int64]T, error)

	mu    sync.Mutex
	lists map[dayListKey]*cachedDays[T]
}

// dayList is a list of orders by day of creation.
type dayList struct {
	scope db.OrderScope
	// store is one of the scope's stores; nil is all.
	store *uuid.UUID
	zone  *time.Location
}

type dayListKey struct {
	operator, ownStore, store uuid.UUID
	test                      bool
	zone                      string
}

func (l dayList) key() dayListKey {
	key := dayListKey{operator: l.scope.OperatorID, test: l.scope.Test, zone: l.zone.String()}
	if l.scope.StoreID != nil {
		key.ownStore = *l.scope.StoreID
	}
	if l.store != nil {
		key.store = *l.store
	}
	return key
}

// between is the filter of the orders created from one day to another.
func (l dayList) between(first, last int64) db.OrderFilter {
	from, until := l.start(first), l.start(last+1)
	return db.OrderFilter{StoreID: l.store, From: &from, Until: &until}
}

func (l dayList) start(day int64) time.Time {
	return clock.DayStart(time.Unix(day*secondsADay, 0).UTC(), l.zone)
}

// cachedDays are the days of a list.
type cachedDays[T any] struct {
	// begun counts the refreshes that have begun.
	begun atomic.Int64
	// turn is held by the one who reads and uses the rest.
	turn  *semaphore.Weighted
	byDay map[int64]T
	// refreshed is the number of the last refresh that has succeeded.
	refreshed int64
	// first and last bound what is known; a day between them that is not in byDay has no orders.
	first, last int64
	// readAt is when the first days were read. Changes before checkedAt are in byDay.
	readAt, checkedAt time.Time
	// inPieces means that a read of days has failed, perhaps because they were too many.
	inPieces bool
	// stale are the pieces that were read longer than rereadAfter ago, where inPieces. Each request
	// reads one of them again: one that read all would fail.
	stale []dayRange
}

func newDayCache[T any](database *db.DB, clk clock.Clock, read func(context.Context, db.OrderScope, db.OrderFilter, *time.Location) (map[int64]T, error)) *dayCache[T] {
	return &dayCache[T]{db: database, clock: clk, read: read, lists: map[dayListKey]*cachedDays[T]{}}
}

// each calls do with every day from first to last on which orders of the list were created, in no
// particular sequence.
func (d *dayCache[T]) each(ctx context.Context, list dayList, first, last int64, do func(day int64, value T)) error {
	known := d.known(list)
	before := known.begun.Load()
	if err := known.takeTurn(ctx); err != nil {
		return err
	}
	defer known.turn.Release(1)
	if !known.refreshedSince(before, first, last) {
		number := known.begun.Add(1)
		if err := d.refresh(ctx, list, known, first, last); err != nil {
			return err
		}
		known.refreshed = number
	}
	for day, value := range known.byDay {
		if first <= day && day <= last {
			do(day, value)
		}
	}
	return nil
}

// takeTurn waits until nobody else reads the list. The request holds no slot meanwhile: those who
// ask for the lists of one operator must not keep everybody else out.
func (k *cachedDays[T]) takeTurn(ctx context.Context) error {
	if k.turn.TryAcquire(1) {
		return nil
	}
	taken := false
	err := inflight.WithoutSlot(ctx, func() error {
		err := k.turn.Acquire(ctx, 1)
		taken = err == nil
		return err
	})
	if err != nil && taken {
		k.turn.Release(1) // there was no slot for the request to return to
	}
	return err
}

// refreshedSince reports whether the days from first to last are as they were when so many
// refreshes had begun, or later: another request has refreshed them meanwhile.
func (k *cachedDays[T]) refreshedSince(begun, first, last int64) bool {
	return k.refreshed > begun && k.first <= first && last <= k.last
}

// has reports whether the days of a list are cached.
func (d *dayCache[T]) has(list dayList) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lists[list.key()] != nil
}

func (d *dayCache[T]) known(list dayList) *cachedDays[T] {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.lists[list.key()]
	if known == nil {
		if len(d.lists) >= maxDayLists {
			clear(d.lists) // rare; each is read anew
		}
		known = &cachedDays[T]{turn: semaphore.NewWeighted(1)}
		d.lists[list.key()] = known
	}
	return known
}

// refresh reads the days that are not known and those that have changed.
func (d *dayCache[T]) refresh(ctx context.Context, list dayList, known *cachedDays[T], first, last int64) error {
	now := d.clock.Now()
	// The clock was set back: changes may have times before checkedAt.
	setBack := now.Before(known.checkedAt)
	// Nothing is known if no read has succeeded since the list was emptied, for whichever days.
	nothing := known.byDay == nil || known.first > known.last
	old := now.Sub(known.readAt) >= rereadAfter
	if nothing || setBack || old && !known.inPieces {
		known.byDay, known.first, known.last, known.stale = map[int64]T{}, last+1, last, nil
		known.readAt, known.checkedAt = now, now
	} else {
		if old && len(known.stale) == 0 {
			known.readAt, known.stale = now, known.pieces()
		}
		if err := d.reread(ctx, list, known); err != nil {
			return err
		}
	}
	if err := d.extend(ctx, list, known, first, last); err != nil {
		return err
	}
	known.checkedAt = now
	return nil
}

// reread reads the known days that have changed, and a stale piece.
func (d *dayCache[T]) reread(ctx context.Context, list dayList, known *cachedDays[T]) error {
	changed, err := d.db.ChangedDays(ctx, list.scope, list.between(known.first, known.last), list.zone, known.checkedAt.Add(-settledAfter))
	if err != nil {
		return err
	}
	for _, dates := range rangesOf(changed) {
		if _, err := d.readRange(ctx, list, known, dates); err != nil {
			return err
		}
	}
	if len(known.stale) == 0 {
		return nil
	}
	if _, err := d.readRange(ctx, list, known, known.stale[0]); err != nil {
		return err
	}
	known.stale = known.stale[1:]
	return nil
}

// extend reads the days from first to last that are not known, and those between, so that the union
// has no gap. Those of an operator with very many orders take longer than a request may: what was
// read of them is kept, and the next request goes on from there, in pieces.
func (d *dayCache[T]) extend(ctx context.Context, list dayList, known *cachedDays[T], first, last int64) error {
	length := max(known.first-first, last-known.last)
	if known.inPieces {
		length = pieceDays
	}
	for first < known.first || known.last < last {
		dates := dayRange{known.last + 1, min(last, known.last+length)}
		if first < known.first {
			dates = dayRange{max(first, known.first-length), known.first - 1}
		}
		found, err := d.readRange(ctx, list, known, dates)
		if err != nil {
			// A client that has left tells nothing about how long all of them take.
			known.inPieces = known.inPieces || !errors.Is(ctx.Err(), context.Canceled)
			return err
		}
		known.first, known.last = min(known.first, dates.first), max(known.last, dates.last)
		if found == 0 {
			length *= 4 // before the first order there are many years to look at
		}
	}
	return nil
}

// readRange reads a range of days and returns how many of them have orders.
func (d *dayCache[T]) readRange(ctx context.Context, list dayList, known *cachedDays[T], dates dayRange) (found int, err error) {
	read, err := d.read(ctx, list.scope, list.between(dates.first, dates.last), list.zone)
	if err != nil {
		return 0, err
	}
	known.replace(dates, read)
	return len(read), nil
}

// replace takes what was read of a range of days.
func (k *cachedDays[T]) replace(dates dayRange, read map[int64]T) {
	for day := range k.byDay {
		if dates.first <= day && day <= dates.last {
			delete(k.byDay, day)
		}
	}
	for day, value := range read {
		k.byDay[day] = value
	}
}

// pieces divides the days that have orders into pieces of pieceDays.
func (k *cachedDays[T]) pieces() (pieces []dayRange) {
	for _, day := range slices.Sorted(maps.Keys(k.byDay)) {
		if n := len(pieces); n == 0 || pieces[n-1].last < day {
			pieces = append(pieces, dayRange{day, min(day+pieceDays-1, k.last)})
		}
	}
	return pieces
}

// dayRange is a range of days, both ends included.
type dayRange struct{ first, last int64 }

// rangesOf joins days, which are in ascending order, to few ranges with few days between them: one
// old order that has changed must not cost the days of years.
func rangesOf(list []int64) (ranges []dayRange) {
	for _, day := range list {
		if n := len(ranges); n > 0 && ranges[n-1].last == day-1 {
			ranges[n-1].last = day
		} else {
			ranges = append(ranges, dayRange{day, day})
		}
	}
	for len(ranges) > maxRanges {
		nearest := 1
		for i := 2; i < len(ranges); i++ {
			if ranges[i].first-ranges[i-1].last < ranges[nearest].first-ranges[nearest-1].last {
				nearest = i
			}
		}
		ranges[nearest-1].last = ranges[nearest].last
		ranges = slices.Delete(ranges, nearest, nearest+1)
	}
	return ranges
}

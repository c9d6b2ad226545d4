package orders

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/inflight"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// A day that has lost its last order is forgotten when it is read again; days around it stay.
func TestCachedDays_replace(t *testing.T) {
	t.Parallel()
	known := cachedDays[string]{byDay: map[int64]string{1: "before", 2: "changed", 3: "without orders", 5: "after"}}
	known.replace(dayRange{2, 4}, map[int64]string{2: "read again", 4: "new"})
	require.Equal(t, map[int64]string{1: "before", 2: "read again", 4: "new", 5: "after"}, known.byDay)
}

// Days are joined to few ranges, and those with the fewest days between them first.
func TestRangesOf(t *testing.T) {
	t.Parallel()
	require.Empty(t, rangesOf(nil))
	require.Equal(t, []dayRange{{1, 3}, {5, 5}, {7, 8}}, rangesOf([]int64{1, 2, 3, 5, 7, 8}))
	var scattered []int64
	for i := range int64(maxRanges + 1) {
		scattered = append(scattered, 2*i)
	}
	require.Len(t, rangesOf(scattered[:maxRanges]), maxRanges)
	require.Len(t, rangesOf(scattered), maxRanges)
	ofYearsAgo := append([]int64{-3_000, -1_000}, scattered...)
	require.Equal(t, []dayRange{{-3_000, -3_000}, {-1_000, -1_000}}, rangesOf(ofYearsAgo)[:2])
	require.Equal(t, int64(2*maxRanges), rangesOf(ofYearsAgo)[maxRanges-1].last)
}

// waitingSlot counts the slots that its requests hold.
type waitingSlot struct{ held int }

func (w *waitingSlot) Release()                        { w.held-- }
func (w *waitingSlot) Reacquire(context.Context) error { w.held++; return nil }

// Requests that wait for the same list hold no slot, share the next read, and stop waiting when
// their clients leave.
func TestDays_each_waitsForWhoReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads int
		failed, fail := errors.New("the database is away"), make(chan struct{})
		list := newDayCache(nil, clock.System(), func(context.Context, db.OrderScope, db.OrderFilter, *time.Location) (map[int64]string, error) {
			if reads++; reads == 1 {
				<-fail
				return nil, failed
			}
			return map[int64]string{3: "read"}, nil
		})
		each := func(ctx context.Context) (found []string, err error) {
			err = list.each(ctx, dayList{zone: time.UTC}, 1, 5, func(_ int64, of string) { found = append(found, of) })
			return found, err
		}
		var all sync.WaitGroup
		all.Go(func() {
			_, err := each(t.Context())
			require.ErrorIs(t, err, failed)
		})
		synctest.Wait()
		slot := &waitingSlot{held: 3}
		for range 3 {
			all.Go(func() {
				found, err := each(inflight.WithSlot(t.Context(), slot))
				require.NoError(t, err)
				require.Equal(t, []string{"read"}, found)
			})
			synctest.Wait() // one after the other: the slot is not safe for concurrent use
		}
		require.Zero(t, slot.held)
		ctx, leave := context.WithCancel(t.Context())
		all.Go(func() {
			_, err := each(ctx)
			require.ErrorIs(t, err, context.Canceled)
		})
		leave()
		synctest.Wait()
		close(fail)
		all.Wait()
		require.Equal(t, 3, slot.held)
		require.Equal(t, 2, reads)
	})
}

// A client that leaves does not make the requests after it read in pieces.
func TestDays_each_inOneReadAfterAClientHasLeft(t *testing.T) {
	t.Parallel()
	var reads int
	list := newDayCache(nil, clock.System(), func(ctx context.Context, _ db.OrderScope, _ db.OrderFilter, _ *time.Location) (map[int64]string, error) {
		reads++
		return map[int64]string{3: "read"}, ctx.Err()
	})
	each := func(ctx context.Context) error {
		return list.each(ctx, dayList{zone: time.UTC}, 1, 10*pieceDays, func(int64, string) {})
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	require.ErrorIs(t, each(left), context.Canceled)
	require.NoError(t, each(t.Context()))
	require.Equal(t, 2, reads)
}

// Days that are too many for one request are read by several, each of which goes on where the one
// before it failed; days without orders cost few reads.
func TestDays_each_goesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	database, err := db.Open(t.Context(), testenv.SQLite(t), db.Options{ConnectTimeout: poll.Deadline})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	const lastOrder, perRequest = 7_365, 100 // a day, and how many of them a request has time for
	firstOrder, now := int64(7_000), clock.NewManual(time.Now())
	tooLong := errors.New("the request has ended")
	var left, reads int
	list := newDayCache(database, now, func(_ context.Context, _ db.OrderScope, filter db.OrderFilter, _ *time.Location) (map[int64]int64, error) {
		reads++
		found := map[int64]int64{}
		for day := filter.From.Unix() / secondsADay; day < filter.Until.Unix()/secondsADay; day++ {
			if firstOrder <= day && day <= lastOrder {
				found[day] = day
			}
		}
		if left -= len(found); left < 0 {
			return nil, tooLong
		}
		return found, nil
	})
	read := func(first, last int64) (days []int64, err error) {
		left = perRequest
		err = list.each(t.Context(), dayList{zone: time.UTC}, first, last, func(day, of int64) {
			require.Equal(t, day, of)
			days = append(days, day)
		})
		slices.Sort(days)
		return days, err
	}
	_, err = read(7_100, 7_250)
	require.ErrorIs(t, err, tooLong)
	var days []int64
	for range 10 {
		if days, err = read(0, 9_000); err == nil {
			break
		}
		require.ErrorIs(t, err, tooLong)
	}
	require.NoError(t, err)
	require.EqualValues(t, lastOrder-firstOrder+1, len(days))
	require.EqualValues(t, firstOrder, days[0])
	require.EqualValues(t, lastOrder, days[len(days)-1])
	require.Less(t, reads, 40)

	// Later they are read again, a piece by each request, and no request fails.
	now.Advance(rereadAfter)
	firstOrder += 10 // whose orders were deleted by hand
	for range (lastOrder-firstOrder)/pieceDays + 2 {
		days, err = read(firstOrder-10, lastOrder)
		require.NoError(t, err)
	}
	require.EqualValues(t, firstOrder, days[0])
}

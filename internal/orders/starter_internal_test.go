package orders

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/poll"
)

func orderToStart() workflowStart { return workflowStart{Order: &models.Order{ID: uuid.New()}} }

// blockedStarter starts nothing until release is closed.
func blockedStarter(t *testing.T, concurrency int) (s *starter, started *atomic.Int64, release chan struct{}) {
	t.Helper()
	started, release = &atomic.Int64{}, make(chan struct{})
	s = newStarter(slog.New(slog.DiscardHandler), concurrency, func() int { return 0 }, func(ctx context.Context, _ workflowStart) error {
		select {
		case <-release:
			started.Add(1)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	t.Cleanup(func() { s.close(0) })
	return s, started, release
}

func TestStarter_fullQueueDoesNotHoldTheCreation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const concurrency = 3
		s, started, release := blockedStarter(t, concurrency)
		for range concurrency {
			s.add(t.Context(), orderToStart())
		}
		synctest.Wait() // every goroutine has an order
		const tooMany = 3
		for range startQueueSize + tooMany {
			s.add(t.Context(), orderToStart())
		}
		time.Sleep(time.Millisecond)
		backlog := s.backlog()
		require.Equal(t, concurrency+startQueueSize, backlog.Waiting)
		require.Positive(t, backlog.Oldest)
		require.EqualValues(t, tooMany, backlog.Failed)

		close(release)
		s.close(poll.Deadline)
		require.EqualValues(t, concurrency+startQueueSize, started.Load())
		require.Zero(t, s.backlog().Waiting)
		require.Zero(t, s.backlog().Oldest)
	})
}

func TestStarter_stopsWithoutTemporal(t *testing.T) {
	t.Parallel()
	s, started, _ := blockedStarter(t, 1)
	const count = 100
	for range count {
		s.add(t.Context(), orderToStart())
	}
	s.close(0)
	s.add(t.Context(), orderToStart()) // a request that is still served
	require.Zero(t, started.Load())
	require.EqualValues(t, count+1, s.backlog().Failed, "left to the reconcile workflow")
}

// Creations are answered faster if few workflows start beside them. More are started at once when
// there are none, and when orders have waited for long, but fewer by the orders that are being
// moved.
func TestStarter_startsMoreAtOnceWhenBehind(t *testing.T) {
	t.Parallel()
	const count = 2 * MaxStartConcurrency
	for name, test := range map[string]struct {
		concurrency   int
		waited, pause time.Duration
		moving        int
		atOnce        int
	}{
		"while orders are created":                          {1, 0, 0, 0, 1},
		"while orders are created, behind":                  {1, startsBehind + time.Second, 0, 0, 2},
		"while orders are created, far behind":              {1, 2*startsBehind + time.Second, 0, 0, 4},
		"while orders are created, hours behind":            {1, time.Hour, 0, 0, MaxStartConcurrency},
		"when no more orders are created":                   {1, 0, 2 * creationPause, 0, MaxStartConcurrency},
		"more processors, while orders are created":         {3, 0, 0, 0, 3},
		"more processors, while orders are created, behind": {3, startsBehind + time.Second, 0, 0, 6},
		"more processors, hours behind":                     {3, time.Hour, 0, 0, MaxStartConcurrency},
		"more processors, when no more are created":         {3, 0, 2 * creationPause, 0, MaxStartConcurrency},
		"beside moves": {1, 0, 2 * creationPause, 5, MaxStartConcurrency - 5},
		"beside more moves than starts are allowed":                  {1, 0, 2 * creationPause, 100, 1},
		"more processors, beside more moves than starts are allowed": {3, 0, 2 * creationPause, 100, 3},
		"while orders are created, hours behind, beside moves":       {1, time.Hour, 0, 5, MaxStartConcurrency - 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, started, release := blockedStarter(t, test.concurrency)
				s.movesInProgress = func() int { return test.moving }
				step := make(chan struct{})
				s.start = func(context.Context, workflowStart) error {
					select {
					case <-step:
					case <-release:
					}
					started.Add(1)
					return nil
				}
				for range count {
					s.queue <- queuedStart{ctx: t.Context(), order: orderToStart(), queued: time.Now().Add(-test.waited)}
				}
				s.add(t.Context(), orderToStart()) // runs the goroutines
				synctest.Wait()
				time.Sleep(test.pause)
				step <- struct{}{} // the next order is taken after the pause
				synctest.Wait()
				require.Equal(t, count+1-1-test.atOnce, len(s.queue), "wait while others are started")
				close(release)
				s.close(poll.Deadline)
				require.EqualValues(t, count+1, started.Load())
				require.Len(t, s.idleSlots, MaxStartConcurrency-test.concurrency, "the additional goroutines have ended")
			})
		})
	}
}

// In a burst the answers to creations come first: there is a pause before a start, unless few
// orders wait, no more are created, or many wait since long.
func TestStarter_pausesInABurst(t *testing.T) {
	t.Parallel()
	const start = 10 * time.Millisecond
	for name, test := range map[string]struct {
		waiting  int
		since    time.Duration
		creating bool
		took     time.Duration // by the first start
		pause    time.Duration // before the second
	}{
		"a burst":                {burstQueue + 9, 0, true, start, startPause * start},
		"a burst, Temporal slow": {burstQueue + 9, 0, true, slowStart / 2, maxStartPause},
		"few wait":               {burstQueue, 0, true, start, 0},
		"no more are created":    {burstQueue + 9, 0, false, start, 0},
		"they wait since long":   {burstQueue + 9, burstTime, true, start, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _, _ := blockedStarter(t, 1)
				began := make(chan time.Time, test.waiting+1)
				s.start = func(context.Context, workflowStart) error {
					began <- time.Now()
					time.Sleep(test.took)
					return nil
				}
				for range test.waiting + 1 {
					s.add(t.Context(), orderToStart())
				}
				first := <-began
				s.lastShortQueue.Store(first.Add(-test.since).UnixNano())
				if test.creating {
					s.lastQueued.Store(first.Add(test.took).UnixNano())
				} else {
					s.lastQueued.Store(0)
				}
				if test.pause > 0 { // the first has ended, the second waits
					time.Sleep(test.took + time.Millisecond)
					require.Equal(t, test.waiting, s.backlog().Waiting)
					require.Equal(t, time.Since(first), s.backlog().Oldest)
				}
				require.Equal(t, test.took+test.pause, (<-began).Sub(first))
				s.close(poll.Deadline)
			})
		})
	}
}

// A burst ends: starts catch up with orders that are created without end, if they can.
func TestStarter_catchesUpAfterABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := blockedStarter(t, 1)
		const start = 10 * time.Millisecond // 100 a second, 25 with pauses
		s.start = func(context.Context, workflowStart) error {
			time.Sleep(start)
			return nil
		}
		for range 3 * burstQueue {
			s.add(t.Context(), orderToStart())
		}
		for range 1000 { // 50 a second
			time.Sleep(2 * start)
			s.add(t.Context(), orderToStart())
		}
		require.Less(t, s.backlog().Waiting, burstQueue)
		s.close(poll.Deadline)
	})
}

// While orders are created, one start that hangs does not hold the others up.
func TestStarter_goesOnBesideAStartThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, started, release := blockedStarter(t, 1)
		hanging := orderToStart()
		s.start = func(_ context.Context, order workflowStart) error {
			if order.ID == hanging.ID {
				<-release
			}
			started.Add(1)
			return nil
		}
		s.add(t.Context(), hanging)
		synctest.Wait()
		const others = 5
		for range others {
			s.add(t.Context(), orderToStart())
			time.Sleep(creationPause / others)
		}
		synctest.Wait()
		require.Zero(t, started.Load())
		time.Sleep(slowStart - creationPause - time.Millisecond)
		s.add(t.Context(), orderToStart()) // there is no pause
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.EqualValues(t, others+1, started.Load())
		require.Equal(t, 1, s.backlog().Waiting)
		s.add(t.Context(), orderToStart()) // it still hangs
		synctest.Wait()
		require.EqualValues(t, others+2, started.Load())
		close(release)
		s.close(poll.Deadline)
		require.EqualValues(t, others+3, started.Load())
		require.Zero(t, s.slow.Load())
		require.Len(t, s.idleSlots, MaxStartConcurrency-1, "the additional goroutine has ended")
	})
}

// A start outlives the request that created the order.
func TestStarter_doesNotDependOnTheRequest(t *testing.T) {
	t.Parallel()
	s, started, release := blockedStarter(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	s.add(ctx, orderToStart())
	cancel()
	close(release)
	s.close(poll.Deadline)
	require.EqualValues(t, 1, started.Load())
}

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
	"go.opentelemetry.io/otel/trace"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func orderToStart() workflowStart {
	return workflowStart{Order: &models.Order{ID: uuid.New(), OperatorID: uuid.New()}}
}

// blockedStarter starts nothing until release is closed.
func blockedStarter(t *testing.T) (s *starter, started *atomic.Int64, release chan struct{}) {
	t.Helper()
	started, release = &atomic.Int64{}, make(chan struct{})
	s = newStarter(slog.New(slog.DiscardHandler), func(ctx context.Context, _ workflowStart) error {
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
		s, started, release := blockedStarter(t)
		for range StartsAtOnce {
			s.add(t.Context(), orderToStart())
		}
		synctest.Wait() // every place has an order
		const tooMany = 3
		for range maxWaitingStarts - StartsAtOnce + tooMany {
			s.add(t.Context(), orderToStart())
		}
		time.Sleep(time.Millisecond)
		backlog := s.backlog()
		require.Equal(t, maxWaitingStarts, backlog.Waiting)
		require.Positive(t, backlog.Oldest)
		require.EqualValues(t, tooMany, backlog.Failed)

		close(release)
		s.close(poll.Deadline)
		require.EqualValues(t, maxWaitingStarts, started.Load())
		require.Zero(t, s.backlog().Waiting)
		require.Zero(t, s.backlog().Oldest)
	})
}

func TestStarter_stopsWithoutTemporal(t *testing.T) {
	t.Parallel()
	s, started, _ := blockedStarter(t)
	const count = 100
	for range count {
		s.add(t.Context(), orderToStart())
	}
	s.close(0)
	s.add(t.Context(), orderToStart()) // a request that is still served
	require.Zero(t, started.Load())
	require.EqualValues(t, count+1, s.backlog().Failed, "left to the reconcile workflow")
}

// StartsAtOnce workflows are started at once: a start waits for nothing but a free place, and one
// that hangs does not hold the others up.
func TestStarter_startsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, started, release := blockedStarter(t)
		hanging := make(chan struct{})
		s.start = func(_ trace.SpanContext, order workflowStart) error {
			if order.GuideCode == "hangs" {
				<-hanging
			} else {
				<-release
			}
			started.Add(1)
			return nil
		}
		first := orderToStart()
		first.GuideCode = "hangs"
		s.add(t.Context(), first)
		const others = 2 * StartsAtOnce
		for range others {
			s.add(t.Context(), orderToStart())
		}
		synctest.Wait()
		require.Equal(t, StartsAtOnce, s.starting)
		require.Equal(t, 1+others, s.backlog().Waiting)
		close(release)
		synctest.Wait()
		require.EqualValues(t, others, started.Load())
		require.Equal(t, 1, s.backlog().Waiting)
		close(hanging)
		s.close(poll.Deadline)
		require.EqualValues(t, 1+others, started.Load())
	})
}

// However many orders of one operator wait, another's order is started as the second from then on,
// and finds room.
func TestStarter_operatorsInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := blockedStarter(t)
		proceed, started := make(chan struct{}), make(chan uuid.UUID, maxWaitingStarts)
		s.start = func(_ trace.SpanContext, order workflowStart) error {
			<-proceed
			started <- order.OperatorID
			return nil
		}
		noisy, quiet := uuid.New(), uuid.New()
		of := func(operator uuid.UUID) workflowStart {
			order := orderToStart()
			order.OperatorID = operator
			return order
		}
		for range StartsAtOnce {
			s.add(t.Context(), of(noisy))
		}
		synctest.Wait() // every place has an order
		for range maxWaitingOfOperator + 1 {
			s.add(t.Context(), of(noisy))
		}
		s.add(t.Context(), of(quiet))
		require.EqualValues(t, 1, s.backlog().Failed, "the last of those that were too many")
		const waiting = StartsAtOnce + maxWaitingOfOperator + 1
		require.Equal(t, waiting, s.backlog().Waiting)
		for range StartsAtOnce + 1 { // one after the other
			proceed <- struct{}{}
			require.Equal(t, noisy, <-started)
			synctest.Wait()
		}
		proceed <- struct{}{}
		require.Equal(t, quiet, <-started)
		close(proceed)
		s.close(poll.Deadline)
		require.Len(t, started, waiting-StartsAtOnce-2)
	})
}

// A start outlives the request that created the order.
func TestStarter_doesNotDependOnTheRequest(t *testing.T) {
	t.Parallel()
	s, started, release := blockedStarter(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.add(ctx, orderToStart())
	cancel()
	close(release)
	s.close(poll.Deadline)
	require.EqualValues(t, 1, started.Load())
}

// A request that outlives the process's grace for stopping confirms its order after the
// confirmations were closed. It is answered like any other, and the reconcile workflow checks the
// order.
func TestStartConfirmations_afterClose(t *testing.T) {
	t.Parallel()
	database, err := db.Open(t.Context(), testenv.SQLite(t), db.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = database.Close() })
	m := &startConfirmations{db: database, clock: clock.System(), log: slog.New(slog.DiscardHandler)}
	m.close()
	require.NotPanics(t, func() { m.add(uuid.New(), 1) })
	m.close()
}

package orders

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// One request at a time moves an order; the others know that they waited, and nothing is kept of an
// order that nobody moves.
func TestOrderLocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		locks, id := newOrderLocks(), uuid.New()
		release, waited, err := locks.acquire(t.Context(), id)
		require.NoError(t, err)
		require.False(t, waited)

		other, waited, err := locks.acquire(t.Context(), uuid.New())
		require.NoError(t, err)
		require.False(t, waited, "another order")
		require.Equal(t, 2, locks.count())
		other()
		require.Equal(t, 1, locks.count())

		second := make(chan bool)
		go func() {
			release, waited, err := locks.acquire(t.Context(), id)
			if err == nil {
				second <- waited
				release()
			}
		}()
		synctest.Wait()
		select {
		case <-second:
			require.Fail(t, "the order is still being moved")
		default:
		}

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = locks.acquire(gone, id)
		require.ErrorIs(t, err, context.Canceled)

		release()
		require.True(t, <-second)
		synctest.Wait()
		require.Empty(t, locks.locks)
	})
}

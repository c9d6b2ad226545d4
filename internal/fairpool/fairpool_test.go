package fairpool_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"despacho/internal/fairpool"
)

// With one key's queue before it, another key is served after the slot that is in use.
func TestAcquire_servesKeysInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := fairpool.New(1, 1)
		release, err := pool.Acquire(t.Context(), "busy")
		require.NoError(t, err)
		var served []string
		wait := func(key string) {
			go func() {
				release, err := pool.Acquire(t.Context(), key)
				if err != nil {
					return
				}
				served = append(served, key)
				release()
			}()
			synctest.Wait()
		}
		for range 3 {
			wait("busy")
		}
		wait("other")
		release()
		release() // does nothing
		synctest.Wait()
		require.Equal(t, []string{"busy", "other", "busy", "busy"}, served)
	})
}

func TestAcquire_limitsEachKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := fairpool.New(3, 2)
		for range 2 {
			_, err := pool.Acquire(t.Context(), "busy")
			require.NoError(t, err)
		}
		waiting, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := pool.Acquire(waiting, "busy")
			left <- err
		}()
		synctest.Wait()
		release, err := pool.Acquire(t.Context(), "other")
		require.NoError(t, err, "a slot is left for another key")
		leave()
		require.ErrorIs(t, <-left, context.Canceled)
		release()
		_, err = pool.Acquire(t.Context(), "third")
		require.NoError(t, err, "who left takes no slot")
		_, err = pool.Acquire(waiting, "third")
		require.ErrorIs(t, err, context.Canceled)
	})
}

// TryAcquire takes a free slot at once, up to what a key may hold and the pool has.
func TestTryAcquire_doesNotWait(t *testing.T) {
	t.Parallel()
	pool := fairpool.New(3, 2)
	take := func(key string) func() {
		release, _ := pool.TryAcquire(key)
		return release
	}
	first := take("busy")
	require.NotNil(t, first)
	require.NotNil(t, take("busy"))
	require.Nil(t, take("busy"), "the key holds all it may")
	require.NotNil(t, take("other"))
	require.Nil(t, take("other"), "the pool is empty")
	first()
	first() // does nothing
	require.NotNil(t, take("other"))
	require.Nil(t, take("third"))
}

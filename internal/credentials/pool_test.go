package credentials_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/credentials"
	"despacho/test/poll"
)

// Of many passwords at once only as many are compared as the pool is large, the queue is bounded,
// and whoever is no longer waited for leaves it.
func TestPool_bounds(t *testing.T) {
	const size, queue = 2, credentials.MaxWaiting
	var mu sync.Mutex
	var running, most int
	started, release := make(chan struct{}, size), make(chan struct{})
	credentials.SetCompare(t, func(_, _ []byte) error {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		defer func() {
			mu.Lock()
			running--
			mu.Unlock()
		}()
		started <- struct{}{}
		<-release
		return nil
	})
	pool := credentials.NewPoolOf(size)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var matched, left atomic.Int64
	for i := range size + queue {
		all.Go(func() {
			of := t.Context()
			if i%2 == 0 {
				of = ctx
			}
			ok, err := pool.Matches(of, "hash", "password")
			if ok {
				matched.Add(1)
			}
			if errors.Is(err, context.Canceled) {
				left.Add(1)
			}
		})
	}
	for range size {
		<-started
	}
	require.Eventually(t, func() bool { return pool.Waiting() == size+queue }, poll.Deadline, time.Millisecond)
	_, err := pool.Matches(t.Context(), "hash", "password")
	require.ErrorIs(t, err, credentials.ErrBusy)

	cancel()
	require.Eventually(t, func() bool { return left.Load() > 0 }, poll.Deadline, time.Millisecond)
	go func() {
		for range started {
		}
	}()
	close(release)
	all.Wait()
	close(started)
	require.Equal(t, int64(size+queue), matched.Load()+left.Load())
	require.Equal(t, size, most)
	require.Zero(t, pool.Waiting())
}

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
	"despacho/internal/inflight"
	"despacho/test/poll"
)

// heldSlots counts the slots of requests that are held.
type heldSlots struct{ held atomic.Int64 }

func (s *heldSlots) Release() { s.held.Add(-1) }

func (s *heldSlots) Reacquire(context.Context) error { s.held.Add(1); return nil }

// Of many passwords at once only as many are compared as the pool is large, those that wait hold no
// slot, the queue is bounded, and whoever is no longer waited for leaves it.
func TestPool_bounds(t *testing.T) {
	const size, queue = 2, credentials.MaxWaiting
	slots := &heldSlots{}
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
	ask := func(ctx context.Context) (bool, error) {
		slots.held.Add(1)
		defer slots.held.Add(-1)
		return pool.Matches(inflight.WithSlot(ctx, slots), "hash", "password")
	}
	var all sync.WaitGroup
	var matched, left atomic.Int64
	for i := range size + queue {
		all.Go(func() {
			of := t.Context()
			if i%2 == 0 {
				of = ctx
			}
			ok, err := ask(of)
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
	require.Eventually(t, func() bool { return slots.held.Load() == 0 }, poll.Deadline, time.Millisecond)
	_, err := ask(t.Context())
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

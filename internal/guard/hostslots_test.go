package guard

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestHostSlotsBoundEachHostApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slots := NewHostSlots(2)
		var inside atomic.Int32
		leave := make(chan struct{})
		var running sync.WaitGroup
		for range 5 {
			running.Go(func() {
				release, err := slots.Acquire(t.Context(), "lento.example:443")
				if err == nil {
					inside.Add(1)
					<-leave
					release()
				}
			})
		}
		synctest.Wait()
		require.EqualValues(t, 2, inside.Load(), "two inside, three waiting")

		release, err := slots.Acquire(t.Context(), "otro.example:443")
		require.NoError(t, err, "another host does not wait")
		release()

		leave <- struct{}{}
		synctest.Wait()
		require.EqualValues(t, 3, inside.Load(), "who leaves makes room for one")

		close(leave)
		running.Wait()
		require.EqualValues(t, 5, inside.Load())
		require.Empty(t, slots.hosts, "idle hosts are forgotten")
	})
}

func TestHostSlotsGiveUpWithTheContext(t *testing.T) {
	t.Parallel()
	slots := NewHostSlots(1)
	release, err := slots.Acquire(t.Context(), "lento.example:443")
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	outcome := make(chan error)
	go func() {
		_, err := slots.Acquire(ctx, "lento.example:443")
		outcome <- err
	}()
	cancel()
	require.ErrorIs(t, <-outcome, context.Canceled)

	release()
	release()
	_, err = slots.Acquire(ctx, "lento.example:443")
	require.ErrorIs(t, err, context.Canceled, "a finished context gets no slot even when one is free")
	require.Empty(t, slots.hosts)
}

package safehttp

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHostSlotsBoundEachHostApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slots := newHostSlots(2)
		var inside atomic.Int32
		leave := make(chan struct{})
		var running sync.WaitGroup
		for range 5 {
			running.Go(func() {
				release, err := slots.acquire(t.Context(), "lento.example:443")
				if err == nil {
					inside.Add(1)
					<-leave
					release()
				}
			})
		}
		synctest.Wait()
		require.EqualValues(t, 2, inside.Load(), "two inside, three waiting")

		release, err := slots.acquire(t.Context(), "otro.example:443")
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
	slots := newHostSlots(1)
	release, err := slots.acquire(t.Context(), "lento.example:443")
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	outcome := make(chan error)
	go func() {
		_, err := slots.acquire(ctx, "lento.example:443")
		outcome <- err
	}()
	cancel()
	require.ErrorIs(t, <-outcome, context.Canceled)

	release()
	release()
	_, err = slots.acquire(ctx, "lento.example:443")
	require.ErrorIs(t, err, context.Canceled, "a finished context gets no slot even when one is free")
	require.Empty(t, slots.hosts)
}

// The transport's own bound does not hold for HTTP/2 without keep-alive, so it is the dialer that
// keeps it.
func TestClientBoundsConnectionsPerHost(t *testing.T) {
	t.Parallel()
	const bound, requests = 2, 8
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the kernel connects, nobody needs to accept
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	synctest.Test(t, func(t *testing.T) {
		dial := newTransport(Options{
			AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Timeout: time.Hour, MaxConnsPerHost: bound,
		}).DialContext
		var opened atomic.Int32
		open := make(chan net.Conn, requests)
		for range requests {
			go func() {
				connection, err := dial(context.Background(), "tcp", listener.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				opened.Add(1)
				open <- connection
			}()
		}
		for closed := range requests {
			synctest.Wait()
			require.EqualValues(t, min(bound+closed, requests), opened.Load(), "with %d closed", closed)
			require.NoError(t, (<-open).Close())
		}
	})
}

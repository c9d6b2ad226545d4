package sender_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/safehttp"
	"despacho/test/testenv"
	"despacho/webhooks/sender"
)

// While all slots of a hanging receiver are taken and more requests wait, another receiver still
// gets its events.
func TestHangingReceiverDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	const events = 25
	stuck := make(chan struct{}, 4*sender.DefaultPerHost)
	hanging := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		stuck <- struct{}{}
		hang(w, r)
	})
	healthy := newReceiver(t, contractReceiver(currentSecret))
	options := senderOptions(t)
	options.HTTP.Timeout = 10 * testenv.Deadline // no hanging exchange times out before the test ends
	s := sender.NewSender(options)

	hangCtx, stop := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	var ended atomic.Int32
	for range 4 * sender.DefaultPerHost {
		waiting.Go(func() {
			send(hangCtx, s, deliveredEvent(hanging))
			ended.Add(1)
		})
	}
	defer waiting.Wait()
	defer stop()
	for range sender.DefaultPerHost {
		<-stuck
	}
	ctx, expire := context.WithTimeout(t.Context(), testenv.Deadline)
	defer expire()
	for range events {
		result := send(ctx, s, deliveredEvent(healthy))
		require.True(t, result.Delivered(), result.Message)
	}
	require.Zero(t, ended.Load(), "the other receiver still hangs")
	require.Empty(t, stuck, "and is not asked more often than its bound allows")
}

func TestReserveBoundsTheExchangesWithOneHost(t *testing.T) {
	t.Parallel()
	const perHost, events = 3, 20
	synctest.Test(t, func(t *testing.T) {
		s := sender.NewSender(sender.Options{PerHost: perHost})
		slots := make(chan *sender.Slot, events)
		for range events {
			go func() {
				slot, err := s.Reserve(t.Context(), deliveredEvent("https://"+receiverName+"/hook"))
				if err == nil {
					slots <- slot
				}
			}()
		}
		for left := events; left > 0; left-- {
			synctest.Wait()
			require.Len(t, slots, min(perHost, left))
			(<-slots).Release()
		}
	})
}

func TestQueueingDoesNotCountAgainstTheReceiver(t *testing.T) {
	t.Parallel()
	const queued = 10 * safehttp.DefaultTimeout
	synctest.Test(t, func(t *testing.T) {
		s := sender.NewSender(sender.Options{PerHost: 1})
		first, err := s.Reserve(t.Context(), deliveredEvent("https://"+receiverName+"/hook"))
		require.NoError(t, err)
		time.AfterFunc(queued, first.Release) // longer than the exchange timeout
		second, err := s.Reserve(t.Context(), deliveredEvent("https://"+receiverName+"/hook"))
		require.NoError(t, err)
		defer second.Release()
		require.Zero(t, first.Waited)
		require.Equal(t, queued, second.Waited)
		require.Equal(t, queued, second.At.Sub(first.At), "the attempt is dated when its turn comes")
	})
}

func TestSendStopsWithItsContext(t *testing.T) {
	t.Parallel()
	interrupted := outcome{
		reason: sender.ReasonInterrupted, words: "El envío se interrumpió antes de conocer la respuesta.",
	}
	entered := make(chan struct{}, 1)
	url := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		hang(w, r)
	})
	options := senderOptions(t)
	options.PerHost = 1
	s := sender.NewSender(options)

	ctx, cancel := context.WithCancel(t.Context())
	sending := make(chan sender.Result, 1)
	go func() { sending <- send(ctx, s, deliveredEvent(url)) }()
	<-entered

	hurried, expire := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer expire()
	_, err := s.Reserve(hurried, deliveredEvent(url))
	require.ErrorIs(t, err, context.DeadlineExceeded, "it never left the queue")

	cancel()
	requireOutcome(t, interrupted, <-sending)
}

package sender_test

import (
	"context"
	"errors"
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
			s.Send(hangCtx, deliveredEvent(hanging))
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
		result := s.Send(ctx, deliveredEvent(healthy))
		require.True(t, result.Delivered(), result.Message)
	}
	require.Zero(t, ended.Load(), "the other receiver still hangs")
	require.Empty(t, stuck, "and is not asked more often than its bound allows")
}

// errNotSent stops an attempt in Begin, before it reaches the network.
var errNotSent = errors.New("not sent")

// blockingRequest signals when it has acquired its slot and keeps it until released.
func blockingRequest(turn chan<- time.Time, release <-chan struct{}) sender.Request {
	request := deliveredEvent("https://" + receiverName + "/hook")
	request.Begin = func(at time.Time) error {
		turn <- at
		<-release
		return errNotSent
	}
	return request
}

func TestSendBoundsTheExchangesWithOneHost(t *testing.T) {
	t.Parallel()
	const perHost, events = 3, 20
	synctest.Test(t, func(t *testing.T) {
		s := sender.NewSender(sender.Options{PerHost: perHost})
		turn, release := make(chan time.Time, events), make(chan struct{})
		var sending sync.WaitGroup
		for range events {
			sending.Go(func() { s.Send(t.Context(), blockingRequest(turn, release)) })
		}
		for left := range events {
			synctest.Wait()
			require.Len(t, turn, min(perHost+left, events), "with %d gone", left)
			release <- struct{}{}
		}
		sending.Wait()
	})
}

func TestQueueingDoesNotCountAgainstTheReceiver(t *testing.T) {
	t.Parallel()
	const queued = 10 * safehttp.DefaultTimeout
	synctest.Test(t, func(t *testing.T) {
		s := sender.NewSender(sender.Options{PerHost: 1})
		turn, release := make(chan time.Time, 2), make(chan struct{}, 2)
		results := make(chan sender.Result, 2)
		send := func() { results <- s.Send(t.Context(), blockingRequest(turn, release)) }
		go send()
		synctest.Wait()
		go send()
		time.Sleep(queued) // longer than the exchange timeout
		release <- struct{}{}
		require.Zero(t, (<-results).Waited)

		require.Equal(t, queued, (<-turn).Sub(<-turn).Abs(), "its turn comes all the same, and dates the attempt")
		release <- struct{}{}
		require.Equal(t, queued, (<-results).Waited)
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
	go func() { sending <- s.Send(ctx, deliveredEvent(url)) }()
	<-entered

	hurried, expire := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer expire()
	waited := s.Send(hurried, deliveredEvent(url))
	requireOutcome(t, interrupted, waited)
	require.Positive(t, waited.Waited)
	require.Zero(t, waited.Duration, "it never left the queue")

	cancel()
	requireOutcome(t, interrupted, <-sending)
}

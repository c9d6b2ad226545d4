package sender_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/sender"
	"despacho/test/poll"
)

// Receivers share hosts: however many exchanges with a host hang, another receiver at the same host
// still gets its events.
func TestHangingReceiverDoesNotBlockOthersAtItsHost(t *testing.T) {
	t.Parallel()
	const hanging, events = 40, 25
	stuck := make(chan struct{}, hanging)
	healthy := contractReceiver(currentSecret)
	url := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("hangs") {
			stuck <- struct{}{}
			hang(w, r)
			return
		}
		healthy(w, r)
	})
	options := senderOptions(t)
	options.HTTP.Timeout = 10 * poll.Deadline // no hanging exchange times out before the test ends
	s := sender.NewSender(options)

	hangCtx, stop := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	var ended atomic.Int32
	for range hanging {
		waiting.Go(func() {
			send(hangCtx, s, deliveredEvent(url+"?hangs"))
			ended.Add(1)
		})
	}
	defer waiting.Wait()
	defer stop()
	for range hanging {
		<-stuck
	}
	ctx, expire := context.WithTimeout(t.Context(), poll.Deadline)
	defer expire()
	for range events {
		result := send(ctx, s, deliveredEvent(url))
		require.True(t, result.Delivered(), result.Message)
	}
	require.Zero(t, ended.Load(), "the other receiver still hangs")
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
	s := sender.NewSender(senderOptions(t))

	ctx, cancel := context.WithCancel(t.Context())
	sending := make(chan sender.Result, 1)
	go func() { sending <- send(ctx, s, deliveredEvent(url)) }()
	<-entered

	cancel()
	requireOutcome(t, interrupted, <-sending)
}

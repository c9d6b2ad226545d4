package webhook_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhook"
)

// Two senders tell the same receiver in turns, one of them stuck with another receiver: what the machine is busy with besides holds both up.
func TestAReceiverThatHangsCostsTheOthersNothing(t *testing.T) {
	t.Parallel()
	const events = 25
	stuck := make(chan struct{}, webhook.DefaultPerHost)
	hung := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		stuck <- struct{}{}
		hang(w, r)
	})
	arrived := make(chan time.Time, 1)
	healthy := newReceiver(t, func(http.ResponseWriter, *http.Request) { arrived <- time.Now() })
	options := senderOptions(t)
	options.Guard.Timeout = time.Minute
	free, busy := webhook.NewSender(options), webhook.NewSender(options)

	endless, stop := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 4 * webhook.DefaultPerHost {
		waiting.Go(func() { busy.Send(endless, deliveredEvent(hung)) })
	}
	defer waiting.Wait()
	defer stop()
	for range webhook.DefaultPerHost {
		<-stuck
	}
	delay := func(sender *webhook.Sender) time.Duration {
		sent := time.Now()
		require.True(t, sender.Send(t.Context(), deliveredEvent(healthy)).Delivered())
		return (<-arrived).Sub(sent)
	}
	alone, beside := make([]time.Duration, events), make([]time.Duration, events)
	for i := range events {
		alone[i], beside[i] = delay(free), delay(busy)
	}

	slices.Sort(alone)
	slices.Sort(beside)
	t.Logf("median arrival: %s alone, %s beside a hung receiver", alone[events/2], beside[events/2])
	require.Less(t, beside[events/2]-alone[events/2], 100*time.Millisecond)
}

func TestSendBoundsTheExchangesWithOneHost(t *testing.T) {
	t.Parallel()
	const perHost, events = 3, 20
	var inside, over atomic.Int32
	url := newReceiver(t, func(http.ResponseWriter, *http.Request) {
		if inside.Add(1) > perHost {
			over.Add(1)
		}
		defer inside.Add(-1)
		<-time.After(5 * time.Millisecond)
	})
	options := senderOptions(t)
	options.PerHost = perHost
	sender := webhook.NewSender(options)

	var sending sync.WaitGroup
	for range events {
		sending.Go(func() {
			if result := sender.Send(t.Context(), deliveredEvent(url)); !result.Delivered() {
				t.Error(result.Words)
			}
		})
	}
	sending.Wait()
	require.Zero(t, over.Load())
}

func TestQueueingDoesNotCountAgainstTheReceiver(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second
	const slow = limit / 10
	contract := contractReceiver(currentSecret)
	url := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		<-time.After(slow)
		contract(w, r)
	})
	options := senderOptions(t)
	options.Guard.Timeout = limit
	options.PerHost = 1
	sender := webhook.NewSender(options)

	const events = 12
	results := make(chan webhook.Result, events)
	for range events {
		go func() { results <- sender.Send(t.Context(), deliveredEvent(url)) }()
	}
	var longest time.Duration
	for range events {
		result := <-results
		require.True(t, result.Delivered(), result.Words)
		longest = max(longest, result.Waited)
	}
	require.Greater(t, longest, limit, "the last one queued for longer than an exchange may take")
}

func TestSendStopsWithItsContext(t *testing.T) {
	t.Parallel()
	interrupted := outcome{
		reason: webhook.ReasonInterrupted, words: "El envío se interrumpió antes de conocer la respuesta.",
	}
	entered := make(chan struct{}, 1)
	url := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		hang(w, r)
	})
	options := senderOptions(t)
	options.PerHost = 1
	options.Guard.Timeout = time.Minute
	sender := webhook.NewSender(options)

	ctx, cancel := context.WithCancel(t.Context())
	sending := make(chan webhook.Result, 1)
	go func() { sending <- sender.Send(ctx, deliveredEvent(url)) }()
	<-entered

	hurried, expire := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer expire()
	queueing := sender.Send(hurried, deliveredEvent(url))
	requireOutcome(t, interrupted, queueing)
	require.Positive(t, queueing.Waited)
	require.Zero(t, queueing.Duration, "it never left the queue")

	cancel()
	requireOutcome(t, interrupted, <-sending)
}

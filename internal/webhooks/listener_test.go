package webhooks_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/webhooks/listener"
	"despacho/internal/webhooks/sender"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// program is what a developer runs on its own machine: events reach it without TLS.
type program struct {
	*httptest.Server
	received chan apptest.Received
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{received: make(chan apptest.Received, 10)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		p.received <- apptest.Received{Header: r.Header.Clone(), Body: content}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(p.Close)
	return p
}

// output is a buffer for several goroutines.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// until waits for a condition.
func until(t *testing.T, otherwise string, holds func() bool) {
	t.Helper()
	poll.Until(t, func() error {
		if !holds() {
			return errors.New(otherwise)
		}
		return nil
	})
}

// closedOutput takes nothing; it ends what writes to it.
type closedOutput struct{ end func() }

func (o closedOutput) Write([]byte) (int, error) {
	o.end()
	return 0, io.ErrClosedPipe
}

// Without its first line nobody knows the secret, and every event would be refused.
func TestListener_failsIfItCannotShowTheSecret(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		err := listener.Run(ctx, listener.Options{URL: s.BaseURL, Key: s.KeyA, Forward: newProgram(t).URL, Secret: sender.NewSecret(), Out: closedOutput{end}})
		require.ErrorIs(t, err, io.ErrClosedPipe)
	})
}

// The events of a key reach a program without a public address, signed as webhooks are. What
// happens while the service cannot be reached comes afterwards, once.
func TestListener_forwardsEvents(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		target, err := url.Parse(s.BaseURL)
		require.NoError(t, err)
		var away atomic.Bool
		proxy := httputil.NewSingleHostReverseProxy(target)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if away.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			proxy.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		s.CreateOrder(t, s.KeyA)
		until(t, "the first event is not published", func() bool {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events", Key: s.KeyA}).String("cursor") != ""
		})

		local, out, secret := newProgram(t), &output{}, sender.NewSecret()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- listener.Run(ctx, listener.Options{URL: front.URL, Key: s.KeyA, Forward: local.URL + "/hook", Secret: secret, Out: out})
		}()
		until(t, "it does not listen yet", func() bool { return strings.Contains(out.String(), secret) })

		first := s.CreateOrder(t, s.KeyA)
		event := <-local.received
		require.NoError(t, sender.Verify(event.Header, event.Body, time.Now(), secret))
		require.Contains(t, string(event.Body), first, "only what happens from now on is forwarded")
		require.Equal(t, "order.created", event.Header.Get(sender.HeaderEvent))
		until(t, "the response is not shown", func() bool { return strings.Contains(out.String(), "202 Accepted") })

		away.Store(true)
		until(t, "it has not noticed", func() bool { return strings.Contains(out.String(), "trying again") })
		second := s.CreateOrder(t, s.KeyA)
		away.Store(false)
		require.Contains(t, string((<-local.received).Body), second)
		require.Contains(t, out.String(), "connected again")
		stop()
		require.NoError(t, <-ended)
		require.Empty(t, local.received)
	})
}

// What cannot succeed ends it, with the reason.
func TestListener_endsWithoutTheRight(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		options := listener.Options{URL: s.BaseURL, Forward: "http://127.0.0.1:1/", Secret: sender.NewSecret(), Out: io.Discard}
		for key, reason := range map[string]string{"dsp_live_x": "401", s.NewKey(t, models.APIKey{}, models.ScopeReadStores): "read:orders"} {
			options.Key = key
			require.ErrorContains(t, listener.Run(t.Context(), options), reason)
		}
		options.URL = s.BaseURL + "/nothing"
		require.ErrorContains(t, listener.Run(t.Context(), options), "404")
	})
}

package identity

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/poll"
)

const (
	someDNI   = "40217865"
	someToken = "sk_test.0123456789"
)

// fakeProvider is a server in a provider's place that counts what it was asked.
type fakeProvider struct {
	*httptest.Server
	asked atomic.Int32
}

func serve(t testing.TB, handler http.HandlerFunc) *fakeProvider {
	t.Helper()
	fake := &fakeProvider{}
	fake.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fake.asked.Add(1)
		handler(w, r)
	}))
	t.Cleanup(fake.Close)
	return fake
}

// respondsWith answers everything alike.
func respondsWith(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

var (
	knowsRosa   = respondsWith(http.StatusOK, `{"full_name":"DIAZ QUISPE ROSA MARIA"}`)
	knowsNobody = respondsWith(http.StatusNotFound, `{"message":"not found"}`)
	isDown      = respondsWith(http.StatusBadGateway, "")
	wantsMoney  = respondsWith(http.StatusUnauthorized, `{"message":"Limit exceeded"}`)
)

// hasNoResponse never answers. The server sees the caller leave only once it has read all that was
// sent.
func hasNoResponse(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	panic(http.ErrAbortHandler) // returning would be a 200, which may still reach a caller that is just leaving
}

// named is a fake under a provider's name, decolecta unless said otherwise.
func named(provider string, fake *fakeProvider) Config {
	return Config{Provider: provider, URL: fake.URL, Token: someToken}
}

// verifierOf gives a provider all the time of a test, unless the options say otherwise.
func verifierOf(t testing.TB, options Options, configs ...Config) *Verifier {
	t.Helper()
	options.Timeout = cmp.Or(options.Timeout, poll.Deadline)
	verifier, err := New(configs, options)
	require.NoError(t, err)
	return verifier
}

func verify(t testing.TB, verifier *Verifier, dni string) Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*poll.Deadline)
	defer cancel()
	answer, err := verifier.Verify(ctx, dni)
	require.NoError(t, err)
	return answer
}

// transport answers in the providers' place without a network, so that a fake clock can run.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is what a handler says.
func answer(handler http.HandlerFunc, r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	handler(recorder, r)
	return recorder.Result(), nil
}

// silence lasts until the caller leaves.
func noResponse(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// transcript collects log lines of every level.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *transcript) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(line)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *transcript) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

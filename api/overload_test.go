package api_test

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// With every slot taken by work the next request gets 503 instead of hanging, and health checks are
// served.
func TestOverload_isRefused(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // a Temporal that accepts connections and says nothing
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, TemporalAddress: silent.Addr().String(), Configure: func(c *config.Config) {
		c.MaxRequests, c.Timeouts.Queue, c.Timeouts.Move, c.Timeouts.Readiness = 1, 100*time.Millisecond, 2*time.Second, time.Second
	}})
	tenant := s.NewTenant(t)
	ask := func(path string) *apptest.Answer { return s.Do(t, apptest.Request{Method: http.MethodGet, Path: path}) }
	move := apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + s.CreateOrder(t, tenant.Key) + "/cancel", Key: tenant.Key}
	// The move is repeated until a request was refused beside it: it has the slot for a time that a
	// busy machine may need for one request, and the test's own requests may have it instead.
	seen, moved := make(chan struct{}), make(chan string, 1)
	go func() {
		for {
			answer, err := s.Try(move)
			if err != nil {
				moved <- err.Error()
				return
			}
			select {
			case <-seen:
				moved <- answer.Code
				return
			default:
			}
		}
	}()
	var refused *apptest.Answer
	poll.Until(t, func() error {
		if refused = ask("/public/countries"); refused.Code != "overloaded" {
			return errors.New("the slot is still free")
		}
		return nil
	})
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Equal(t, "1", refused.Header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, ask("/healthz").Status)
	close(seen)
	require.Equal(t, "try_again", <-moved)
	require.Equal(t, http.StatusOK, ask("/public/countries").Status)
}

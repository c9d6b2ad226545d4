package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// With every slot taken the next request gets 503 instead of hanging, health checks are served, and
// a request with a slow body loses its slot.
func TestOverload_isRefused(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) {
		c.MaxRequests, c.Timeouts.Queue, c.Timeouts.Request = 1, 100*time.Millisecond, 2*time.Second
	}})
	ask := func(path string) *apptest.Answer { return s.Do(t, apptest.Request{Method: http.MethodGet, Path: path}) }
	var dripping []net.Conn
	var refused *apptest.Answer
	testenv.Until(t, func() error {
		dripping = append(dripping, drip(t, s)) // on a slow machine the one before may have lost its turn already
		if refused = ask("/public/countries"); refused.Code != "overloaded" {
			return errors.New("the turn is still free")
		}
		return nil
	})
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Equal(t, "overloaded", refused.Code)
	require.Equal(t, "1", refused.Header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, ask("/healthz").Status)

	var answers []int
	for _, connection := range dripping {
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		answers = append(answers, answer.StatusCode)
	}
	require.Contains(t, answers, http.StatusBadRequest, "whoever had the turn never sent its body")
	require.Subset(t, []int{http.StatusBadRequest, http.StatusServiceUnavailable}, answers)
	testenv.Until(t, func() error {
		if again := ask("/public/countries"); again.Status != http.StatusOK {
			return errors.New(again.Text) // the turn has just been given back
		}
		return nil
	})
}

// drip sends a request whose body never ends.
func drip(t *testing.T, s *apptest.Service) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.BaseURL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = fmt.Fprint(connection, "POST /panel/api/session HTTP/1.1\r\nHost: despacho\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)
	return connection
}

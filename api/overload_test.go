package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/apptest"
	"despacho/internal/config"
	"despacho/internal/testenv"
)

// With every turn taken, the next request is told to come back instead of hanging, probes get through, and whoever drips its body in
// loses its turn.
func TestOverload_isAnsweredQuickly(t *testing.T) {
	t.Parallel()
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.MaxRequests = 1 }})
	dripping, err := net.Dial("tcp", strings.TrimPrefix(s.BaseURL, "http://"))
	require.NoError(t, err)
	defer dripping.Close()
	_, err = fmt.Fprint(dripping, "POST /panel/api/session HTTP/1.1\r\nHost: despacho\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)

	ask := func(path string) *apptest.Answer { return s.Do(t, apptest.Request{Method: http.MethodGet, Path: path}) }
	var refused *apptest.Answer
	testenv.Until(t, func() error {
		if refused = ask("/public/countries"); refused.Status == http.StatusOK {
			return errors.New("the turn is still free")
		}
		return nil
	})
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Equal(t, "overloaded", refused.Code)
	require.Equal(t, "1", refused.Header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, ask("/healthz").Status)

	answer, err := http.ReadResponse(bufio.NewReader(dripping), nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusBadRequest, answer.StatusCode, "the body never came")
	require.Equal(t, http.StatusOK, ask("/public/countries").Status)
}

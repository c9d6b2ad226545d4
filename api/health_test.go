package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// Whoever asks /readyz again and again has the database asked once in a moment.
func TestReadyz_isNoWorkForTheDatabase(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(apptest.FrozenAt)
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Clock: now})
		ask := func(id string) (statements int64) {
			answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz", Header: map[string]string{"X-Request-Id": id}})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
			return s.Statements(id)
		}
		require.Positive(t, ask("ready-first"))
		require.Zero(t, ask("ready-again"))
		now.Advance(time.Second)
		require.Positive(t, ask("ready-later"))
	})
}

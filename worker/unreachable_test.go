package worker_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// While the database is unavailable every request that needs it gets Retry-After, also one that
// cannot be authenticated.
func TestOutage_isAnsweredWithRetryAfter(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	s := boot(t, databaseURL, apptest.Options{})
	id := s.CreateOrder(t, s.Key)
	away := newOutage(t, databaseURL)
	away.begin()
	for _, request := range []apptest.Request{
		{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: s.Key},
		{Method: http.MethodGet, Path: "/v1/orders", Key: s.Key},
		{Method: http.MethodPost, Path: "/v1/orders", Key: s.Key, Body: apptest.Order()},
		{Method: http.MethodGet, Path: "/v1/stores", Key: s.Key},
		{Method: http.MethodPost, Path: "/panel/api/session", Body: map[string]any{"email": "quien@prueba.example", "password": "12345678"}},
	} {
		answer := s.Do(t, request)
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, "%s %s: %s", request.Method, request.Path, answer.Text)
		require.Equal(t, "service_unavailable", answer.Code)
		require.NotEmpty(t, answer.Header.Get("Retry-After"))
	}
	away.end()
	poll.Until(t, func() error {
		err := s.App.DB.Query(t.Context()).Find(&[]models.Operator{}).Error
		return err
	})
	require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + id, Key: s.Key}).Status)
}

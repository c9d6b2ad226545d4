package api_test

import (
	"database/sql"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// While every connection to the database is in use a request that needs one gets 503 instead of
// hanging, for JSON and pages alike, and what needs none is served.
func TestOverload_isRefused(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.Timeouts.Acquire = 100 * time.Millisecond }})
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.Key)
		requests := map[string]apptest.Request{
			"read":   {Method: http.MethodGet, Path: "/v1/orders/" + id, Key: tenant.Key},
			"list":   {Method: http.MethodGet, Path: "/v1/orders", Key: tenant.Key},
			"create": {Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()},
			"page":   {Method: http.MethodGet, Path: "/track/AAAAA-AAAAAA"},
		}
		giveBack := takeConnections(t, s.App.DB.SQL())
		for name, request := range requests {
			refused := s.Do(t, request)
			require.Equal(t, http.StatusServiceUnavailable, refused.Status, "%s: %s", name, refused.Text)
			require.Equal(t, "1", refused.Header.Get("Retry-After"), name)
			if name != "page" {
				require.Equal(t, "overloaded", refused.Code, name)
			}
		}
		for _, path := range []string{"/healthz", "/public/countries"} {
			require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodGet, Path: path}).Status, path)
		}
		giveBack()
		poll.Until(t, func() error {
			if answer := s.Do(t, requests["read"]); answer.Status != http.StatusOK {
				return errors.New(answer.Text)
			}
			return nil
		})
	})
}

// takeConnections takes every connection that the pool may have.
func takeConnections(t *testing.T, pool *sql.DB) (giveBack func()) {
	t.Helper()
	var taken []*sql.Conn
	for range pool.Stats().MaxOpenConnections {
		connection, err := pool.Conn(t.Context())
		require.NoError(t, err)
		taken = append(taken, connection)
	}
	return func() {
		for _, connection := range taken {
			require.NoError(t, connection.Close())
		}
	}
}

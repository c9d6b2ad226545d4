package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// A database that only reads, as a standby after a failover, serves no request: even a read counts
// against a limit. /readyz says so, and is well again by itself.
func TestReadOnly_isUnavailableAndNotReady(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(apptest.FrozenAt)
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Clock: now})
		tenant := s.NewTenant(t)
		ready := func() *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"})
		}
		require.Equal(t, http.StatusOK, ready().Status)

		promote := demote(t, s)
		refused := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders", Key: tenant.Key})
		require.Equal(t, http.StatusServiceUnavailable, refused.Status, refused.Text)
		now.Advance(time.Second)
		standby := ready()
		require.Equal(t, http.StatusServiceUnavailable, standby.Status, standby.Text)
		require.Equal(t, "unavailable", standby.String("database"))

		promote()
		poll.Until(t, func() error {
			now.Advance(time.Second)
			if answer := ready(); answer.Status != http.StatusOK {
				return fmt.Errorf("%d %s", answer.Status, answer.Text)
			}
			return nil
		})
		s.CreateOrder(t, tenant.Key)
	})
}

// demote makes the database refuse every write, until promote is called.
func demote(t *testing.T, s *apptest.Service) (promote func()) {
	t.Helper()
	pool := s.App.DB.SQL()
	if s.App.DB.Dialect() == db.SQLite {
		onEveryConnection(t, pool, "PRAGMA query_only = on")
		return func() { onEveryConnection(t, pool, "PRAGMA query_only = off") }
	}
	// New connections are as the present ones: the pool replaces one that was refused a write.
	const onNewConnections = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET default_transaction_read_only = %s', current_database()); END $$"
	admin, err := pool.Conn(t.Context())
	require.NoError(t, err)
	_, err = admin.ExecContext(t.Context(), fmt.Sprintf(onNewConnections, "on"))
	require.NoError(t, err)
	require.NoError(t, admin.Close())
	onEveryConnection(t, pool, "SET default_transaction_read_only = on")
	return func() {
		onEveryConnection(t, pool, "SET default_transaction_read_only = off")
		_, err := pool.ExecContext(t.Context(), fmt.Sprintf(onNewConnections, "off"))
		require.NoError(t, err)
	}
}

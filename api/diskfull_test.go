package api_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// A database without space for an order answers 503 with Retry-After, /readyz says why, and both
// end with it.
func TestDiskFull_isUnavailableAndNotReady(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		now := clock.NewManual(apptest.FrozenAt)
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, Clock: now})
		tenant := s.NewTenant(t)
		ready := func() *apptest.Answer {
			return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"})
		}
		require.Equal(t, http.StatusOK, ready().Status)

		free := fillDisk(t, s)
		var refused *apptest.Answer
		for range 500 { // some orders fit into the pages that there are
			refused = s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order()})
			if refused.Status != http.StatusCreated {
				break
			}
		}
		require.Equal(t, http.StatusServiceUnavailable, refused.Status, refused.Text)
		require.NotEmpty(t, refused.Header.Get("Retry-After"))
		full := ready()
		require.Equal(t, http.StatusServiceUnavailable, full.Status, full.Text)
		require.Equal(t, "full", full.String("database"))
		metrics := httptest.NewRecorder()
		s.App.Metrics.Handler().ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		require.Contains(t, metrics.Body.String(), "database_disk_full_total 1\n")

		free()
		now.Advance(time.Minute)
		require.Equal(t, http.StatusOK, ready().Status)
		s.CreateOrder(t, tenant.Key)
	})
}

// fillDisk makes the database fail as with a full disk, until free is called: SQLite may not add a
// page, and PostgreSQL raises the error that it raises when it cannot extend a file.
func fillDisk(t *testing.T, s *apptest.Service) (free func()) {
	t.Helper()
	pool := s.App.DB.SQL()
	if s.App.DB.Dialect() == db.Postgres {
		_, err := pool.ExecContext(t.Context(), `CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
			CREATE TRIGGER no_space BEFORE INSERT ON orders EXECUTE FUNCTION no_space()`)
		require.NoError(t, err)
		return func() {
			_, err := pool.ExecContext(t.Context(), "DROP TRIGGER no_space ON orders")
			require.NoError(t, err)
		}
	}
	onEveryConnection(t, pool, "PRAGMA max_page_count = 1") // SQLite takes the present size instead
	return func() { onEveryConnection(t, pool, "PRAGMA max_page_count = 1073741824") }
}

// onEveryConnection makes a setting on as many connections as the pool may have.
func onEveryConnection(t *testing.T, pool *sql.DB, statement string) {
	t.Helper()
	var connections []*sql.Conn
	for range pool.Stats().MaxOpenConnections {
		connection, err := pool.Conn(context.Background())
		require.NoError(t, err)
		connections = append(connections, connection)
	}
	for _, connection := range connections {
		_, err := connection.ExecContext(context.Background(), statement)
		require.NoError(t, errors.Join(err, connection.Close()))
	}
}

// The photos' directory is shown by /readyz and does not fail it: orders need no photo.
func TestReadyz_showsWhetherPhotosCanBeStored(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(apptest.FrozenAt)
	s := apptest.Boot(t, testenv.SQLite(t), apptest.Options{NoWorker: true, Clock: now})
	ready := func() *apptest.Answer {
		return s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/readyz"})
	}
	require.Equal(t, "ok", ready().String("files"))
	left, err := os.ReadDir(s.Config.FilesDir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, os.RemoveAll(s.Config.FilesDir))
	require.NoError(t, os.WriteFile(s.Config.FilesDir, nil, 0o600))
	now.Advance(time.Second)
	shown := ready()
	require.Equal(t, http.StatusOK, shown.Status, shown.Text)
	require.Equal(t, "unwritable", shown.String("files"))
}

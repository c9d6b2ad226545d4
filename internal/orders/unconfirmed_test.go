package orders_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// Many open orders are unconfirmed a few at a time: what is done stays done when the rest is held
// up, and the next call does the rest.
func TestUnconfirmOpenOrders_goesOn(t *testing.T) {
	t.Parallel()
	database := dbtest.Open(t, testenv.Postgres(t))
	w := dbtest.NewTenant(t, database)
	service := orders.New(database, db.NewCatalogCache(database), nil, clock.System(), slog.New(slog.DiscardHandler), orders.Options{})
	t.Cleanup(service.Close)
	const more = 3000
	_, err := database.SQL().ExecContext(t.Context(), `
		INSERT INTO orders SELECT (jsonb_populate_record(orders, jsonb_build_object(
			'id', gen_random_uuid(), 'guide_code', n::text, 'status', 'received', 'cancelled_by', NULL))).*
		FROM orders, generate_series(1, $1) AS n`, more)
	require.NoError(t, err)
	waiting := func() (count int) {
		require.NoError(t, database.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM orders WHERE workflow_started_at IS NULL").Scan(&count))
		return count
	}
	require.Zero(t, waiting())

	holder, err := database.SQL().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer holder.Rollback()
	var pid int
	require.NoError(t, holder.QueryRowContext(t.Context(), "SELECT pg_backend_pid() FROM orders WHERE status = 'received' ORDER BY id DESC LIMIT 1 FOR UPDATE").Scan(&pid))
	ended := make(chan error, 1)
	go func() {
		_, err := service.UnconfirmOpenOrders(t.Context())
		ended <- err
	}()
	poll.Until(t, func() error {
		var cancelled int
		err := database.SQL().QueryRowContext(t.Context(), "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))", pid).Scan(&cancelled)
		if err == nil && cancelled == 0 {
			err = errors.New("it does not wait for the order")
		}
		return err
	})
	require.ErrorContains(t, <-ended, "canceling statement")
	done := waiting()
	require.Positive(t, done)
	require.NoError(t, holder.Rollback())

	count, err := service.UnconfirmOpenOrders(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, more-done, count)
	require.Equal(t, more, waiting())
	other, err := database.OrderViewByID(t.Context(), w.Order.ID)
	require.NoError(t, err)
	require.Equal(t, models.StatusCancelled, other.Status)
	require.NotNil(t, other.WorkflowStartedAt)
}

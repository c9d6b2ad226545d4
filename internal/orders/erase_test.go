package orders_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/orders"
	"despacho/internal/photos"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// A photo that is replaced while its order is being erased goes with the rest: the erasure removes
// what the row has once it is locked.
func TestErase_photoThatIsReplacedMeanwhile(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		first, second := photos.NameOf(uuid.New()), photos.NameOf(uuid.New())
		for _, name := range []string{first, second} {
			require.NoError(t, os.WriteFile(filepath.Join(s.Config.FilesDir, name), []byte("photo"), 0o600))
		}
		order := tenant.Row(time.Now(), apptest.ReceivedAfter(0), apptest.DeliveredAfter(tenant.Riders[0], 0), func(o *models.Order) { o.ProofPhoto = &first })
		tenant.InsertRows(t, []models.Order{order})

		correction, erased := eraseWhileLocked(t, s, tenant, order.ID)
		entry := uuid.New()
		for statement, arguments := range map[string][]any{
			"UPDATE orders SET proof_photo = $1 WHERE id = $2": {second, order.ID},
			`WITH entry AS (
				INSERT INTO order_events (id, order_id, type, status, actor, at) VALUES ($1, $2, 'delivery_corrected', 'delivered', 'operator', now())
			)
			INSERT INTO order_corrections (id, order_id, entry_id, field, old_value, new_value) VALUES ($1, $2, $1, 'delivery_proof', $3, $4)`: {entry, order.ID, first, second},
		} {
			_, err := correction.ExecContext(t.Context(), statement, arguments...)
			require.NoError(t, err)
		}
		require.NoError(t, correction.Commit())
		require.NoError(t, <-erased)

		for _, name := range []string{first, second} {
			_, err := os.Stat(filepath.Join(s.Config.FilesDir, name))
			require.ErrorIs(t, err, os.ErrNotExist)
		}
	})
}

// An auto-cancelled order that is received late and cancelled by a person while its recipient is
// being erased has another run by then. Its history and its event are not erased, so the order is
// not either: the next erasure finds all of it.
func TestErase_orderThatIsRevivedAndEndsMeanwhile(t *testing.T) {
	apptest.OnPostgres(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		order := tenant.Row(time.Now().Add(-48*time.Hour), func(o *models.Order) {
			by := models.ByAuto
			o.Status, o.Seq, o.CancelledBy = models.StatusCancelled, 2, &by
		})
		tenant.InsertRows(t, []models.Order{order})

		moves, erased := eraseWhileLocked(t, s, tenant, order.ID)
		_, err := moves.ExecContext(t.Context(), "UPDATE orders SET seq = 4, received_at = now(), cancelled_by = 'operator', cancel_reason = 'Ana Quispe se mudó' WHERE id = $1", order.ID)
		require.NoError(t, err)
		require.NoError(t, moves.Commit())
		require.ErrorIs(t, <-erased, orders.ErrNotEnded)

		_, err = s.App.Orders.Erase(t.Context(), &tenant.Operator, order.ID)
		require.NoError(t, err)
		var reason *string
		require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT cancel_reason FROM orders WHERE id = $1 AND erased_at IS NOT NULL", order.ID).Scan(&reason))
		require.Nil(t, reason)
	})
}

// eraseWhileLocked locks an order's row and begins to erase the order. It returns once the erasure
// waits for the row, with the transaction that holds it and the erasure's outcome.
func eraseWhileLocked(t *testing.T, s *apptest.Service, tenant *apptest.Tenant, orderID uuid.UUID) (*sql.Tx, <-chan error) {
	t.Helper()
	holder, err := s.App.DB.SQL().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = holder.Rollback() })
	var pid int
	require.NoError(t, holder.QueryRowContext(t.Context(), "SELECT pg_backend_pid() FROM orders WHERE id = $1 FOR UPDATE", orderID).Scan(&pid))
	erased := make(chan error, 1)
	go func() {
		_, err := s.App.Orders.Erase(t.Context(), &tenant.Operator, orderID)
		erased <- err
	}()
	poll.Until(t, func() error {
		var waiting int
		err := s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))", pid).Scan(&waiting)
		if err == nil && waiting == 0 {
			err = errors.New("the erasure does not wait for the row")
		}
		return err
	})
	return holder, erased
}

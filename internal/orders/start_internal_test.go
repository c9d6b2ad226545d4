package orders

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/test/testenv"
)

// A request that outlives the process's grace for stopping confirms its order after the
// confirmations were closed. It is answered like any other, and the reconcile workflow checks the
// order.
func TestStartConfirmations_afterClose(t *testing.T) {
	t.Parallel()
	database, err := db.Open(t.Context(), testenv.SQLite(t), db.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = database.Close() })
	m := &startConfirmations{db: database, clock: clock.System(), log: slog.New(slog.DiscardHandler)}
	m.close()
	require.NotPanics(t, func() { m.add(uuid.New(), 1) })
	m.close()
}

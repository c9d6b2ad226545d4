package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/internal/principal"
	"despacho/models"
)

// Nothing changes or removes an entry of the audit log, except that one whose time is over may be
// deleted.
func TestAuditLog_isAppendOnly(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		order := fixture(t, database)
		user := uuid.New()
		ctx := principal.With(context.Background(), principal.Principal{UserID: &user, Address: "203.0.113.7"})
		now := time.Now().UTC().Truncate(time.Microsecond)
		for _, at := range []time.Time{now, now.Add(-db.DefaultAuditRetention - time.Hour)} {
			require.NoError(t, database.Audit(ctx, models.AuditEntry{OperatorID: order.OperatorID, At: at, Action: models.AuditSettingsChanged}))
		}
		for _, statement := range []string{
			"UPDATE audit_log SET address = NULL", "DELETE FROM audit_log", "UPDATE audit_log SET keep_until = '2020-01-01 00:00:00+00:00'",
			"UPDATE audit_log SET at = at WHERE keep_until < '2100-01-01 00:00:00+00:00'",
		} {
			_, err := database.SQL().Exec(statement)
			require.ErrorContains(t, err, "append-only", statement)
		}
		if database.Dialect() == db.Postgres {
			_, err := database.SQL().Exec("TRUNCATE audit_log")
			require.ErrorContains(t, err, "append-only")
		}
		entries, total, err := database.AuditLog(ctx, order.OperatorID, db.AuditFilter{}, 1, 10)
		require.NoError(t, err)
		require.EqualValues(t, 2, total)
		require.Equal(t, user, *entries[0].UserID)
		require.Equal(t, "203.0.113.7", *entries[0].Address)

		cleared, err := database.ClearExpired(ctx, now)
		require.NoError(t, err)
		require.EqualValues(t, 1, cleared.AuditEntries)
		entries, _, err = database.AuditLog(ctx, order.OperatorID, db.AuditFilter{}, 1, 10)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.True(t, now.Equal(entries[0].At))
	})
}

func TestChangedColumns(t *testing.T) {
	t.Parallel()
	before := models.Rider{ID: uuid.New(), Name: "Eva", Phone: "+51912345678", Active: true}
	after := before
	require.Empty(t, db.ChangedColumns(&before, &after))
	after.Phone, after.Active = "+51912345679", false
	require.Equal(t, []string{"phone", "active"}, db.ChangedColumns(&before, &after))
}

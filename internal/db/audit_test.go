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
	"despacho/test/dbtest"
)

// Nothing changes or removes an entry of the audit log, except that one whose time is over may be
// deleted.
func TestAuditLog_isAppendOnly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		order := dbtest.NewOrder(t, database)
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
		entries := dbtest.Rows[models.AuditEntry](t, database, "operator_id = ?", order.OperatorID)
		require.Len(t, entries, 2)
		require.Equal(t, user, *entries[0].UserID)
		require.Equal(t, "203.0.113.7", *entries[0].Address)

		ended, err := database.SQL().Exec("DELETE FROM audit_log WHERE at < $1", now)
		require.NoError(t, err)
		deleted, err := ended.RowsAffected()
		require.NoError(t, err)
		require.EqualValues(t, 1, deleted, "its time is over")
		left := dbtest.Row[models.AuditEntry](t, database, "operator_id = ?", order.OperatorID)
		require.True(t, now.Equal(left.At))
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

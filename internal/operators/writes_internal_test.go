package operators

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/fields"
)

// Statements that list the columns they write change every field except those listed here. Whoever
// adds a field decides which it is.
func TestWrites_everyFieldIsWrittenOrKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, w, f := context.Background(), dbtest.NewTenant(t, database), &fields.Filler{Given: 1000}
		operator := w.Operator
		f.Fill(&operator)
		operator.ID = w.Operator.ID
		require.NoError(t, saveSettings(ctx, database, &operator))
		dbtest.RequireWritten(t, w.Operator, operator, dbtest.Row[models.Operator](t, database, "id = ?", operator.ID),
			"ID", "CountryCode", "Timezone", "Currency", "Plan", "SuspendedAt", "SettingsVersion", "CreatedAt")

		coverage := models.Coverage{
			ID: uuid.New(), OperatorID: w.Operator.ID, LocationID: dbtest.District, Price: w.Operator.BasePrice, CreatedAt: w.Branch.CreatedAt,
		}
		require.NoError(t, database.Insert(ctx, &coverage))
		price := coverage
		f.Fill(&price)
		price.ID, price.OperatorID, price.LocationID = coverage.ID, coverage.OperatorID, coverage.LocationID
		require.NoError(t, (&CoverageChange{Changed: []models.Coverage{price}}).save(ctx, database))
		dbtest.RequireWritten(t, coverage, price, dbtest.Row[models.Coverage](t, database, "id = ?", price.ID),
			"ID", "OperatorID", "LocationID", "CreatedAt")
	})
}

// A sign-in that was checked before its user's password changed, a second factor was set up or
// removed, or the user was deactivated opens no session.
func TestLockChecked_overtaken(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		checked := w.User
		require.NoError(t, lockChecked(t.Context(), database, &checked))
		for column, value := range map[string]any{"password_hash": "another", "totp_confirmed_at": nil, "active": false} {
			change := func(value any) {
				require.NoError(t, database.Query(t.Context()).Model(&models.User{}).Where("id = ?", checked.ID).Update(column, value).Error)
			}
			change(value)
			require.True(t, db.IsNotFound(lockChecked(t.Context(), database, &checked)), column)
			change(map[string]any{"password_hash": checked.PasswordHash, "totp_confirmed_at": checked.TOTPConfirmedAt, "active": true}[column])
		}
		require.NoError(t, lockChecked(t.Context(), database, &checked))
		checked.TOTPConfirmedAt = nil
		require.True(t, db.IsNotFound(lockChecked(t.Context(), database, &checked)), "it was checked without a code")
	})
}

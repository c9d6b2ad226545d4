package orders

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
)

// The riders of an operator's settings are those who may get orders: the active ones of the
// operator, and not the one of test orders.
func TestReadSettings_riders(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w, other := dbtest.NewTenant(t, database), dbtest.NewOrder(t, database).OperatorID
		rider := func(change func(*models.Rider)) uuid.UUID {
			rider := w.Rider
			rider.ID, rider.Active, rider.Test = uuid.New(), true, false
			change(&rider)
			require.NoError(t, database.Insert(t.Context(), &rider))
			return rider.ID
		}
		active := rider(func(*models.Rider) {})
		rider(func(r *models.Rider) { r.OperatorID = other })
		rider(func(r *models.Rider) { r.Active = false })
		rider(func(r *models.Rider) { r.Test = true })
		settings, err := readSettings(t.Context(), database, w.Operator.ID)
		require.NoError(t, err)
		require.Len(t, settings.Riders, 1)
		require.Equal(t, active, settings.Riders[0].ID)
	})
}

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
// operator, and not the one of test orders. Of branches and sizes the closed ones are not offered.
func TestReadSettings_active(t *testing.T) {
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
		branch := w.Branch
		branch.ID, branch.Active, branch.Main = uuid.New(), false, false
		size := models.Size{ID: uuid.New(), OperatorID: w.Operator.ID, Code: "XL", Name: "Enorme", CreatedAt: branch.CreatedAt}
		require.NoError(t, database.Insert(t.Context(), &branch))
		require.NoError(t, database.Insert(t.Context(), &size))
		settings, version, err := readSettings(t.Context(), database, w.Operator.ID)
		require.NoError(t, err)
		require.Equal(t, dbtest.Row[models.Operator](t, database, "id = ?", w.Operator.ID).SettingsVersion, version)
		require.Equal(t, map[uuid.UUID]bool{active: true}, settings.riders)
		require.Contains(t, settings.branches, w.Branch.ID)
		require.NotContains(t, settings.branches, branch.ID)
		require.Contains(t, settings.inactiveSizes, "XL")
		require.NotContains(t, settings.sizes, "XL")
	})
}

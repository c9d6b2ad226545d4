package db_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/internal/requestid"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// What operators cover is read once, and again when one of them covers more, is suspended or is
// resumed.
func TestCoveredCache(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true})
		countries, locations := catalog.Embedded()
		require.NoError(t, s.App.DB.LoadCatalog(t.Context(), countries, locations))
		tenant := s.NewTenant(t)
		cache := db.NewCoveredCache(s.App.DB)
		covered := func(country string, statements int64) []uuid.UUID {
			t.Helper()
			id := uuid.NewString()
			list, err := cache.Locations(requestid.With(t.Context(), id), country)
			require.NoError(t, err)
			require.Equal(t, statements, s.Statements(id))
			return list
		}
		const fresh, cached = 2, 1 // whether something has changed is always asked
		before := covered("PE", fresh)
		require.NotEmpty(t, before)
		require.ElementsMatch(t, before, covered("PE", cached))
		require.Empty(t, covered("CL", fresh))
		require.Empty(t, covered("CL", cached))

		puno, _ := catalog.NewIndex(countries, locations).ByUbigeo("PE", "210101")
		now := apptest.FrozenAt
		tenant.Change(t, &models.Coverage{ID: uuid.New(), OperatorID: tenant.Operator.ID, LocationID: puno.ID, CreatedAt: now})
		require.Contains(t, covered("PE", fresh), puno.ID)
		tenant.Suspend(t)
		require.NotContains(t, covered("PE", fresh), puno.ID)
		require.NotContains(t, covered("PE", cached), puno.ID)
		tenant.Resume(t)
		require.Contains(t, covered("PE", fresh), puno.ID)

		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE operators SET suspended_at = created_at WHERE id = $1", tenant.Operator.ID)
		require.NoError(t, err)
		require.NotContains(t, covered("PE", fresh), puno.ID, "suspended by hand")
	})
}

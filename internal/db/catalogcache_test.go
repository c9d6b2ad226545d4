package db_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/test/dbtest"
)

// A zone that was just loaded is found by whoever asks for its id, and then in the catalog.
func TestCatalogCache_findsANewLocation(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		countries, locations := catalog.Embedded()
		require.NoError(t, database.LoadCatalog(t.Context(), countries, locations))
		cache := db.NewCatalogCache(database)
		_, known, err := cache.Destination(t.Context(), uuid.New())
		require.NoError(t, err)
		require.False(t, known)
		before, err := cache.Index(t.Context())
		require.NoError(t, err)
		district, _ := before.ByUbigeo("PE", "150122")
		zone := catalog.NewZone(district, "Santa Cruz")
		require.NoError(t, database.LoadCatalog(t.Context(), nil, []catalog.Location{zone}))
		places, known, err := cache.Destination(t.Context(), zone.ID)
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, district.ID, places[1].ID)
		after, err := cache.Index(t.Context())
		require.NoError(t, err)
		_, known = after.Location(zone.ID)
		require.True(t, known)
	})
}

package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// A location that was just added is found, by whoever asks for its id and in the catalog.
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

// While a statement about the catalog gets no answer, those who need the catalog go on with the one
// that they have, and whoever asks for an unknown location waits no longer than the request may.
func TestCatalogCache_waitsForNoDatabaseThatIsSilent(t *testing.T) {
	t.Parallel()
	database := dbtest.Open(t, testenv.Postgres(t))
	countries, locations := catalog.Embedded()
	require.NoError(t, database.LoadCatalog(t.Context(), countries, locations))
	cache := db.NewCatalogCache(database)
	first, err := cache.Index(t.Context())
	require.NoError(t, err)

	silent, err := database.SQL().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer silent.Rollback()
	_, err = silent.ExecContext(t.Context(), "LOCK TABLE locations IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	asking, leave := context.WithCancel(t.Context())
	defer leave()
	asked := make(chan error, 1)
	go func() {
		_, _, err := cache.Destination(asking, uuid.New())
		asked <- err
	}()
	poll.Until(t, func() error {
		var waiting bool
		err := database.SQL().QueryRowContext(t.Context(),
			"SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waiting)
		if err == nil && !waiting {
			err = errors.New("nobody reads the catalog")
		}
		return err
	})
	meanwhile, err := cache.Index(t.Context())
	require.NoError(t, err)
	require.Same(t, first, meanwhile)
	leave()
	require.ErrorIs(t, <-asked, context.Canceled)
}

// A panic while the catalog is read is the error of those who wait for it. The next one reads it.
func TestCatalogCache_panic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		countries, locations := catalog.Embedded()
		require.NoError(t, database.LoadCatalog(t.Context(), countries, locations))
		var defect apptest.Defect
		require.NoError(t, database.Use(&defect))
		defect.PanicAfter("count(*)")
		cache := db.NewCatalogCache(database)
		_, err := cache.Index(t.Context())
		require.ErrorContains(t, err, "panic")
		index, err := cache.Index(t.Context())
		require.NoError(t, err)
		_, known := index.ByUbigeo("PE", "150122")
		require.True(t, known)
	})
}

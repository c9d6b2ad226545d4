package db_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/db"
)

func TestMigrate_againChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		ctx := context.Background()
		applied, err := database.Migrate(ctx)
		require.NoError(t, err)
		require.Zero(t, applied)
		require.NoError(t, database.CheckVersion(ctx))
		migrations, err := database.Migrations(ctx)
		require.NoError(t, err)
		require.NotEmpty(t, migrations)
		for _, migration := range migrations {
			require.True(t, migration.Applied, migration.Name)
		}
	})
}

func TestMigrate_severalProcessesAtOnce(t *testing.T) {
	t.Parallel()
	path := "sqlite:" + filepath.Join(t.TempDir(), "new.db")
	database := open(t, path)
	_, err := database.Migrate(context.Background())
	require.NoError(t, err)
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() {
			other, err := db.Open(context.Background(), path, db.Options{})
			if err != nil {
				errs[i] = err
				return
			}
			defer other.Close()
			_, errs[i] = other.Migrate(context.Background())
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestCheckVersion_notMigrated(t *testing.T) {
	t.Parallel()
	database := open(t, "sqlite:"+filepath.Join(t.TempDir(), "empty.db"))
	err := database.CheckVersion(context.Background())
	require.ErrorContains(t, err, "not migrated")
	require.ErrorContains(t, err, "despacho migrate up")
}

func TestCheckVersion_newerThanTheBinary(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		_, err := database.SQL().Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
		require.NoError(t, err)
		require.ErrorContains(t, database.CheckVersion(context.Background()), "newer than this binary")
	})
}

func TestOpen_wrongAddressNamesTheVariable(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"mysql://x", "postgres://127.0.0.1:1/x?connect_timeout=1", "postgres://%zz", "sqlite:", "sqlite:/does/not/exist/x.db"} {
		_, err := db.Open(context.Background(), address, db.Options{})
		require.ErrorContains(t, err, "DATABASE_URL", address)
		require.NotContains(t, err.Error(), "\n", "one clear line")
	}
}

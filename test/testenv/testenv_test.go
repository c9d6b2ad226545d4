package testenv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestDatabases_areMigratedEmptyAndOnesOwn(t *testing.T) {
	t.Parallel()
	for _, round := range []string{"one", "another"} {
		t.Run(round, func(t *testing.T) {
			t.Parallel()
			testenv.Databases(t, func(t *testing.T, databaseURL string) {
				require.True(t, strings.HasPrefix(databaseURL, filepath.Base(t.Name())), databaseURL)
				database, err := db.Open(t.Context(), databaseURL, db.Options{})
				require.NoError(t, err)
				defer database.Close()
				require.NoError(t, database.CheckVersion(t.Context()))

				var countries int
				require.NoError(t, database.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM countries").Scan(&countries))
				require.Zero(t, countries, "the catalog is not loaded, and no other test is here")
				_, err = database.SQL().ExecContext(t.Context(), `INSERT INTO countries (code, name, phone_prefix, currency, timezone, document_name)
					VALUES ('PE', 'Perú', '+51', 'PEN', 'America/Lima', 'DNI')`)
				require.NoError(t, err)
			})
		})
	}
}

func TestPostgres_isDroppedWhenTheTestEnds(t *testing.T) {
	t.Parallel()
	var databaseURL string
	t.Run("a test", func(t *testing.T) { databaseURL = testenv.Postgres(t) })
	if databaseURL == "" {
		t.Skip("no PostgreSQL")
	}
	_, err := pgx.Connect(t.Context(), databaseURL)
	require.ErrorContains(t, err, "does not exist")
}

func TestSQLite_isRemovedWhenTheTestEnds(t *testing.T) {
	t.Parallel()
	var databaseURL string
	t.Run("a test", func(t *testing.T) { databaseURL = testenv.SQLite(t) })
	_, err := os.Stat(strings.TrimPrefix(databaseURL, "sqlite:"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

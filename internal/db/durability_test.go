package db_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/test/dbtest"
	"despacho/test/testenv"
)

// A committed transaction is on the disk.
func TestSQLite_isSynchronous(t *testing.T) {
	t.Parallel()
	var mode string
	var synchronous int
	database := dbtest.Open(t, testenv.SQLite(t))
	require.NoError(t, database.SQL().QueryRow("PRAGMA journal_mode").Scan(&mode))
	require.NoError(t, database.SQL().QueryRow("PRAGMA synchronous").Scan(&synchronous))
	require.Equal(t, "wal", mode)
	require.Equal(t, 2, synchronous, "2 is FULL")
}

// DATABASE_URL=sqlite:<path> is that file, whatever characters its name has. Other users of the
// machine cannot read it, nor the files that SQLite has beside it.
func TestOpen_sqliteFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"despacho.db", "c#.db", "c#/despacho.db", "what?.db", "100%41.db", "mi tienda.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			database, err := db.Open(t.Context(), "sqlite:"+path, db.Options{})
			require.NoError(t, err)
			defer database.Close()
			_, err = database.SQL().Exec("CREATE TABLE personal (data TEXT)")
			require.NoError(t, err)
			for _, suffix := range []string{"", "-wal", "-shm"} {
				info, err := os.Stat(path + suffix)
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), path+suffix)
			}
		})
	}
}

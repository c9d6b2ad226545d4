package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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

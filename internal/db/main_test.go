package db_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// each runs a test on a migrated, empty database, in both dialects.
func each(t *testing.T, run func(t *testing.T, database *db.DB)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) { run(t, open(t, databaseURL)) })
}

func open(t *testing.T, databaseURL string) *db.DB {
	t.Helper()
	database, err := db.Open(context.Background(), databaseURL, db.Options{ConnectTimeout: poll.Deadline})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	return database
}

// Package dbtest helps tests of queries: it opens databases, fills them and compares what is read.
package dbtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// Each runs a test on a migrated, empty database, in both dialects.
func Each(t *testing.T, run func(t *testing.T, database *db.DB)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) { run(t, Open(t, databaseURL)) })
}

// Open opens a database until the test ends.
func Open(t testing.TB, databaseURL string) *db.DB {
	t.Helper()
	database, err := db.Open(context.Background(), databaseURL, db.Options{ConnectTimeout: poll.Deadline})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	return database
}

// LoadCatalog loads the embedded catalog.
func LoadCatalog(t testing.TB, database *db.DB) {
	t.Helper()
	countries, places := catalog.Embedded()
	require.NoError(t, database.LoadCatalog(context.Background(), countries, places))
}

// Row reads the only row of a type that meets a condition.
func Row[T any](t testing.TB, database *db.DB, condition string, arguments ...any) T {
	t.Helper()
	rows := Rows[T](t, database, condition, arguments...)
	require.Len(t, rows, 1, "%T: %s", *new(T), condition)
	return rows[0]
}

// Rows reads the rows of a type that meet a condition, in no particular order.
func Rows[T any](t testing.TB, database *db.DB, condition string, arguments ...any) (rows []T) {
	t.Helper()
	require.NoError(t, database.Query(context.Background()).Where(condition, arguments...).Find(&rows).Error)
	return rows
}

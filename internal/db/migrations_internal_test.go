package db

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	sqlComment   = regexp.MustCompile(`(?m)--.*$`)
	createdTable = regexp.MustCompile(`(?i)^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)`)
	createdIndex = regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(\w+) ON (\w+)`)
	droppedIndex = regexp.MustCompile(`(?i)^DROP INDEX CONCURRENTLY IF EXISTS (\w+)$`)
	declaration  = regexp.MustCompile(`(?i)^INSERT INTO schema_compatibility .* ON CONFLICT DO NOTHING$`)
	anIndex      = regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX\b`)
)

// blocking returns the statements of a PostgreSQL migration that make requests wait for the build
// of an index, or that a second run after a failure would not repeat.
func blocking(migration string) (found []string) {
	up, _, _ := strings.Cut(migration, "-- +goose Down")
	noTransaction := strings.Contains(up, "-- +goose NO TRANSACTION")
	var tables, dropped []string
	for statement := range strings.SplitSeq(sqlComment.ReplaceAllString(up, ""), ";") {
		statement = strings.Join(strings.Fields(statement), " ")
		index := createdIndex.FindStringSubmatch(statement)
		drop := droppedIndex.FindStringSubmatch(statement)
		table := createdTable.FindStringSubmatch(statement)
		switch {
		case statement == "", noTransaction && declaration.MatchString(statement):
		case noTransaction && drop != nil:
			dropped = append(dropped, drop[1])
		case noTransaction && index != nil && index[1] != "" && slices.Contains(dropped, index[2]):
		case noTransaction:
			found = append(found, statement)
		case table != nil:
			tables = append(tables, table[1])
		case index != nil && index[1] == "" && slices.Contains(tables, index[3]):
		case anIndex.MatchString(statement):
			found = append(found, statement)
		}
	}
	return found
}

// An index of a table that has rows is built beside the requests.
func TestMigrations_buildIndexesBesideRequests(t *testing.T) {
	t.Parallel()
	files, err := migrationsFor(Postgres)
	require.NoError(t, err)
	names, err := fs.Glob(files, "*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		require.NoError(t, err)
		require.Empty(t, blocking(string(content)), "%s: docs/operations.md says how an index is created", name)
	}
}

func TestBlocking(t *testing.T) {
	t.Parallel()
	const declared = "INSERT INTO schema_compatibility (version, oldest_binary) VALUES (2, 1) ON CONFLICT DO NOTHING;\n"
	const concurrent = "CREATE INDEX CONCURRENTLY orders_size\n  ON orders (size);\n"
	const leftover = "DROP INDEX CONCURRENTLY IF EXISTS orders_size;\n"
	for _, allowed := range []string{
		"-- +goose Up\nALTER TABLE orders ADD COLUMN a TEXT;\n" + declared,
		"-- +goose Up\nCREATE TABLE visits (id UUID);\nCREATE UNIQUE INDEX visits_id ON visits (id);\n" + declared,
		"-- +goose NO TRANSACTION\n-- +goose Up\n" + leftover + concurrent + declared + "-- +goose Down\nDROP INDEX orders_size;\n",
	} {
		require.Empty(t, blocking(allowed), allowed)
	}
	for _, refused := range []string{
		"-- +goose Up\nCREATE INDEX orders_size ON orders (size);\n",
		"-- +goose Up\nCREATE TABLE visits (id UUID);\nCREATE INDEX IF NOT EXISTS orders_size ON orders (size);\n",
		// PostgreSQL refuses it in a transaction.
		"-- +goose Up\n" + concurrent,
		"-- +goose NO TRANSACTION\n-- +goose Up\n" + leftover + "CREATE INDEX orders_size ON orders (size);\n",
		// After a build that failed its invalid index is in the way.
		"-- +goose NO TRANSACTION\n-- +goose Up\n" + concurrent,
		// A second run finds the column.
		"-- +goose NO TRANSACTION\n-- +goose Up\nALTER TABLE orders ADD COLUMN a TEXT;\n",
	} {
		require.Len(t, blocking(refused), 1, refused)
	}
}

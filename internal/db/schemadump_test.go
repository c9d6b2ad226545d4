package db_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/test/dbtest"
)

var updateSchema = flag.Bool("update", false, "write testdata/schema.*.txt from the migrations")

// schemaQueries return one line for each column, constraint, index and trigger. SQLite says nothing
// of its CHECKs; both dialects have the same ones, from one file.
var schemaQueries = map[db.Dialect]string{
	db.Postgres: `
		SELECT c.relname || CASE c.relpersistence WHEN 'u' THEN ' (unlogged)' ELSE '' END || '.' || a.attname || ' ' ||
			format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END ||
			COALESCE(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') || CASE WHEN a.attidentity <> '' THEN ' IDENTITY' ELSE '' END
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> 'goose_db_version'
		UNION ALL SELECT conrelid::regclass || ': ' || pg_get_constraintdef(oid) FROM pg_constraint
		WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'goose_db_version'
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'goose_db_version'
		UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
	db.SQLite: `
		SELECT m.name || '.' || c.name || ' ' || c.type || CASE WHEN c."notnull" THEN ' NOT NULL' ELSE '' END ||
			COALESCE(' DEFAULT ' || c.dflt_value, '') || CASE WHEN c.pk > 0 THEN ' PRIMARY KEY ' || c.pk ELSE '' END
		FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'
		UNION ALL SELECT m.name || ': ' || f."from" || ' REFERENCES ' || f."table" || ' (' || f."to" || ') ON DELETE ' || f.on_delete
		FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'
		UNION ALL SELECT m.name || ': UNIQUE (' || (SELECT group_concat(name) FROM pragma_index_info(i.name)) || ')'
		FROM sqlite_master m JOIN pragma_index_list(m.name) i WHERE m.type = 'table' AND i.origin = 'u'
		UNION ALL SELECT sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`,
}

// The migrations make the tables, constraints, indexes and triggers of testdata, in both dialects.
// Whoever adds a migration runs the test with -update and reads the difference.
func TestMigrations_makeTheSchema(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		rows, err := database.SQL().QueryContext(t.Context(), schemaQueries[database.Dialect()])
		require.NoError(t, err)
		defer rows.Close()
		var lines []string
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		require.NoError(t, rows.Err())
		slices.Sort(lines)
		schema := strings.Join(lines, "\n") + "\n"
		golden := filepath.Join("testdata", "schema."+string(database.Dialect())+".txt")
		if *updateSchema {
			require.NoError(t, os.WriteFile(golden, []byte(schema), 0o600))
		}
		expected, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(expected), schema)
	})
}

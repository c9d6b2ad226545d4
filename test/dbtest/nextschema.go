package dbtest

import (
	"context"
	"fmt"

	"despacho/internal/db"
)

// LaterVersion is a migration of a release after this one.
const LaterVersion = 90000

// LaterTable is the name of the table that ExpandSchema adds.
func LaterTable(version int) string { return fmt.Sprintf("later_%d", version) }

// ExpandSchema does what the migrations of the next release may do while this release still runs:
// every table gets columns that this release does not know. Main does it before the first test, so
// that all tests of a package hold this release to it.
func ExpandSchema(ctx context.Context, database *db.DB, version int) error {
	tables, err := TableNames(ctx, database)
	if err != nil {
		return err
	}
	statements := []string{fmt.Sprintf("CREATE TABLE %s (id BIGINT PRIMARY KEY)", LaterTable(version))}
	for _, table := range tables {
		statements = append(statements,
			fmt.Sprintf("ALTER TABLE %s ADD COLUMN optional_%d TEXT", table, version),
			fmt.Sprintf("ALTER TABLE %s ADD COLUMN required_%d BIGINT NOT NULL DEFAULT 0", table, version))
	}
	statements = append(statements,
		fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true)", version),
		fmt.Sprintf("INSERT INTO schema_compatibility (version, oldest_binary) VALUES (%d, 0)", version))
	for _, statement := range statements {
		if _, err := database.SQL().ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// TableNames lists the tables of a database.
func TableNames(ctx context.Context, database *db.DB) ([]string, error) {
	query := "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
	if database.Dialect() == db.SQLite {
		query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
	}
	rows, err := database.SQL().QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

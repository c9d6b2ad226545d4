package apptest

import (
	"context"
	"fmt"

	"despacho/db"
)

// nextVersion is a migration of a release after this one.
const nextVersion = 90000

// expandSchema does what the migrations of the next release may do while this release still runs:
// every table gets columns that this release does not know. All tests of the package run on that
// schema, so that they hold this release to it.
func expandSchema(ctx context.Context, database *db.DB) error {
	tables, err := tableNames(ctx, database)
	if err != nil {
		return err
	}
	statements := []string{"CREATE TABLE of_the_next_release (id BIGINT PRIMARY KEY)"}
	for _, table := range tables {
		statements = append(statements,
			"ALTER TABLE "+table+" ADD COLUMN next_optional TEXT",
			"ALTER TABLE "+table+" ADD COLUMN next_required BIGINT NOT NULL DEFAULT 0")
	}
	statements = append(statements,
		fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true)", nextVersion),
		fmt.Sprintf("INSERT INTO schema_compatibility (version, oldest_binary) SELECT %d, MAX(version) FROM schema_compatibility", nextVersion))
	for _, statement := range statements {
		if _, err := database.SQL().ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func tableNames(ctx context.Context, database *db.DB) ([]string, error) {
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

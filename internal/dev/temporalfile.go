package dev

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"despacho/internal/sqlitefile"
)

// temporalFileTables are the tables that a development server of 1.30 or later needs and a file of
// an older one lacks. The server sets up its schema in a new file only.
//
//go:embed temporalfile.sql
var temporalFileTables string

// upgradeTemporalFile adds to an existing database file of Temporal what newer servers need.
func upgradeTemporalFile(ctx context.Context, file string) error {
	database, err := sql.Open("sqlite", sqlitefile.URI(file, url.Values{"mode": {"rw"}}))
	if err != nil {
		return err
	}
	_, err = database.ExecContext(ctx, temporalFileTables)
	if err := errors.Join(err, database.Close()); err != nil {
		return fmt.Errorf("the database file of Temporal, %s: %w", file, err)
	}
	return nil
}

package db

import (
	"bytes"
	"embed"
	"io/fs"
	"strings"
	"testing/fstest"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// sqliteTypes translates PostgreSQL's type names into those that the SQLite driver scans into the
// right Go types: only TIMESTAMP is scanned as a time, and only BLOB and TEXT keep their bytes.
var sqliteTypes = strings.NewReplacer(
	"TIMESTAMPTZ", "TIMESTAMP",
	"BYTEA", "BLOB",
	"UUID", "TEXT",
	"DOUBLE PRECISION", "REAL",
	"CREATE UNLOGGED TABLE", "CREATE TABLE",
)

// migrationsFor returns the migrations for the dialect.
func migrationsFor(dialect Dialect) (fs.FS, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil || dialect == Postgres {
		return files, err
	}
	return translate(files)
}

func translate(files fs.FS) (fs.FS, error) {
	translated := fstest.MapFS{}
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if _, err := sqliteTypes.WriteString(&out, string(content)); err != nil {
			return err
		}
		translated[path] = &fstest.MapFile{Data: out.Bytes()}
		return nil
	})
	return translated, err
}

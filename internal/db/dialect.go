package db

import (
	"bytes"
	"embed"
	"io/fs"
	"regexp"
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

// otherDialect matches the parts of a migration that are not for a dialect, such as the other one's
// triggers.
var otherDialect = map[Dialect]*regexp.Regexp{
	Postgres: regexp.MustCompile(`(?s)-- begin sqlite\n.*?-- end sqlite\n`),
	SQLite:   regexp.MustCompile(`(?s)-- begin postgres\n.*?-- end postgres\n`),
}

// migrationsFor returns the migrations for the dialect.
func migrationsFor(dialect Dialect) (fs.FS, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, err
	}
	return translate(files, dialect)
}

func translate(files fs.FS, dialect Dialect) (fs.FS, error) {
	translated := fstest.MapFS{}
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		content = otherDialect[dialect].ReplaceAll(content, nil)
		if dialect == Postgres {
			translated[path] = &fstest.MapFile{Data: content}
			return nil
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

package db

import (
	"embed"
	"io"
	"io/fs"
	"regexp"
	"strings"
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
	return translated{files, dialect}, err
}

// translated is a directory of migrations as a dialect reads them.
type translated struct {
	fs.FS

	dialect Dialect
}

func (t translated) Open(name string) (fs.File, error) {
	file, err := t.FS.Open(name)
	if err != nil || name == "." {
		return file, err
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	text := otherDialect[t.dialect].ReplaceAllString(string(content), "")
	if t.dialect == SQLite {
		text = sqliteTypes.Replace(text)
	}
	return translatedFile{file, strings.NewReader(text)}, nil
}

// translatedFile is a file with another content.
type translatedFile struct {
	fs.File

	content io.Reader
}

func (f translatedFile) Read(into []byte) (int, error) { return f.content.Read(into) }

package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/internal/dev"
	"despacho/test/poll"
)

// Databases runs the same test on SQLite and on PostgreSQL, each on a database of its own that is
// migrated and empty.
func Databases(t *testing.T, run func(t *testing.T, databaseURL string)) {
	t.Helper()
	for name, open := range map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
}

// SQLite returns the DATABASE_URL of a migrated and empty SQLite file, removed when the test ends.
func SQLite(t testing.TB) string {
	t.Helper()
	template, err := sqliteTemplate()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "despacho.db")
	require.NoError(t, os.WriteFile(path, template, 0o600))
	return "sqlite:" + path
}

// Postgres returns the DATABASE_URL of a migrated and empty PostgreSQL database, dropped when the
// test ends. Where there is no PostgreSQL the test is skipped, or fails with CI=true.
func Postgres(t testing.TB) string {
	t.Helper()
	SkipIfShort(t)
	admin, err := postgresServer.get()
	if errors.Is(err, dev.ErrNoPostgres) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	template, err := postgresTemplate.get()
	require.NoError(t, err)
	name := uniqueName("test_")
	require.NoError(t, dev.Execute(t.Context(), admin, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, template)))
	t.Cleanup(func() {
		require.NoError(t, dev.Execute(context.Background(), admin, "DROP DATABASE "+name+" WITH (FORCE)"))
	})
	return dev.DatabaseURL(admin, name)
}

// sqliteTemplate is a migrated file: copying it is much faster than migrating one for every test.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	directory, err := os.MkdirTemp("", "despacho-sqlite-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	// What was written last may still be in the file beside it: the copy is whole.
	whole := filepath.Join(directory, "whole.db")
	err = migrate("sqlite:"+filepath.Join(directory, "template.db"), func(ctx context.Context, database *db.DB) error {
		err := Prepare(ctx, database)
		if err == nil {
			_, err = database.SQL().ExecContext(ctx, "VACUUM INTO ?", whole)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(whole)
})

var postgresTemplate = &template{}

// template is the migrated PostgreSQL database that every test gets a copy of.
type template struct {
	once sync.Once
	name string
	err  error
}

func (t *template) get() (string, error) {
	t.once.Do(func() {
		admin, err := postgresServer.get()
		if err != nil {
			t.err = err
			return
		}
		name := uniqueName("template_")
		if t.err = dev.Execute(context.Background(), admin, "CREATE DATABASE "+name); t.err == nil {
			t.name = name
			t.err = migrate(dev.DatabaseURL(admin, name), Prepare)
		}
	})
	return t.name, t.err
}

// drop removes the template from a shared server.
func (t *template) drop(ctx context.Context) error {
	if t.name == "" {
		return nil
	}
	return dev.Execute(ctx, postgresServer.address, "DROP DATABASE "+t.name+" WITH (FORCE)")
}

// Prepare adds to the migrated databases that every test gets a copy of what all tests of a package
// need: once, because writing much to SQLite is very slow under the race detector. It is set before
// the first test runs.
var Prepare = func(context.Context, *db.DB) error { return nil }

// migrate makes the tables and what is added to them.
func migrate(databaseURL string, add func(context.Context, *db.DB) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	database, err := db.Open(ctx, databaseURL, db.Options{ConnectTimeout: poll.Deadline})
	if err != nil {
		return err
	}
	if _, err = database.Migrate(ctx); err == nil {
		err = add(ctx, database)
	}
	return errors.Join(err, database.Close())
}

func uniqueName(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

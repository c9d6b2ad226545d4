package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"despacho/internal/filelock"
)

// Migration is one schema migration and whether it is applied.
type Migration struct {
	Version   int64
	Name      string
	AppliedAt time.Time
	Applied   bool
}

// Migrate applies the pending migrations. Several processes may call it at once: one migrates, the
// others wait. It changes nothing in a database that the binary is too old for.
func (d *DB) Migrate(ctx context.Context) (applied int, err error) {
	provider, err := d.migrations()
	if err != nil {
		return 0, err
	}
	target, err := latestVersion()
	if err != nil {
		return 0, err
	}
	current, err := d.schemaVersion(ctx)
	if err != nil {
		return 0, err
	}
	if err := d.checkCompatible(ctx, current, target); err != nil {
		return 0, err
	}
	release, err := d.lockMigrations(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	results, err := provider.Up(ctx)
	if err != nil {
		return 0, fmt.Errorf("migrating the database: %w", err)
	}
	return len(results), nil
}

// lockMigrations keeps other processes of the machine from migrating the same SQLite file: goose
// decides what is pending before it takes SQLite's own lock. On PostgreSQL goose has a lock.
func (d *DB) lockMigrations(ctx context.Context) (release func(), err error) {
	if d.dialect != SQLite {
		return func() {}, nil
	}
	var file string
	if err := d.with(ctx).Raw("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file).Error; err != nil {
		return nil, fmt.Errorf("looking for the database's file: %w", err)
	}
	if release, err = filelock.Wait(ctx, file+"-migrate", func() {}); err != nil {
		return nil, fmt.Errorf("waiting for another migration of the database: %w", err)
	}
	return release, nil
}

// Migrations lists every migration of the binary, and those of a later release that the database
// has; their names are in that release. It writes nothing: goose would create its table.
func (d *DB) Migrations(ctx context.Context) ([]Migration, error) {
	provider, err := d.migrations()
	if err != nil {
		return nil, err
	}
	if exists, err := d.hasVersionTable(ctx); err != nil || !exists {
		return unapplied(provider), err
	}
	statuses, err := provider.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the database's version: %w", err)
	}
	list := make([]Migration, len(statuses))
	for i, status := range statuses {
		list[i] = Migration{
			Version:   status.Source.Version,
			Name:      status.Source.Path,
			AppliedAt: status.AppliedAt,
			Applied:   status.State == goose.StateApplied,
		}
	}
	target, err := latestVersion()
	if err != nil {
		return nil, err
	}
	var later []Migration
	err = d.with(ctx).Raw("SELECT version_id AS version, tstamp AS applied_at, is_applied AS applied FROM "+
		goose.DefaultTablename+
		" WHERE is_applied AND version_id > ? ORDER BY version_id", target).Scan(&later).Error
	if err != nil {
		return nil, fmt.Errorf("reading the migrations of a later release: %w", err)
	}
	return append(list, later...), nil
}

// unapplied lists the binary's migrations as those of an empty database.
func unapplied(provider *goose.Provider) []Migration {
	var list []Migration
	for _, source := range provider.ListSources() {
		list = append(list, Migration{Version: source.Version, Name: source.Path})
	}
	return list
}

// CheckVersion returns an error unless the binary works on the schema: the one that its own
// migrations make, or a later one that declares itself compatible with it.
func (d *DB) CheckVersion(ctx context.Context) error {
	target, err := latestVersion()
	if err != nil {
		return err
	}
	current, err := d.schemaVersion(ctx)
	if err != nil {
		return err
	}
	if current < target {
		return fmt.Errorf("the database is not migrated (version %d, this binary needs %d): run `despacho migrate up`",
			current, target)
	}
	return d.checkCompatible(ctx, current, target)
}

// latestVersion is that of the binary's last migration. The names say it: to read what is in the
// migrations takes longer than to ask the database for its version.
func latestVersion() (latest int64, err error) {
	files, err := migrationFiles.ReadDir("migrations")
	for _, file := range files {
		version, wrong := goose.NumericComponent(file.Name())
		latest, err = max(latest, version), errors.Join(err, wrong)
	}
	return latest, err
}

// checkCompatible returns an error if the database has migrations that do not allow a binary which
// knows those up to target.
func (d *DB) checkCompatible(ctx context.Context, current, target int64) error {
	if current <= target {
		return nil
	}
	incompatible, err := d.firstIncompatible(ctx, target)
	if err != nil {
		return err
	}
	if incompatible != 0 {
		return fmt.Errorf("the database is newer than this binary (version %d, this binary knows %d) and migration %d "+
			"does not allow a binary as old as this: run a newer despacho", current, target, incompatible)
	}
	return nil
}

// firstIncompatible returns the first applied migration after which a binary that knows the
// migrations up to target no longer works, or 0. One that declares nothing is taken to be such.
func (d *DB) firstIncompatible(ctx context.Context, target int64) (int64, error) {
	var version int64
	err := d.with(ctx).Raw(`SELECT COALESCE(MIN(applied.version_id), 0) FROM `+goose.DefaultTablename+` applied
		LEFT JOIN schema_compatibility declared ON declared.version = applied.version_id
		WHERE applied.is_applied AND applied.version_id > ?
			AND COALESCE(declared.oldest_binary, applied.version_id) > ?`, target, target).Scan(&version).Error
	if err != nil {
		return 0, fmt.Errorf("reading which binaries the database is for: %w", err)
	}
	return version, nil
}

// tableExists are the queries that look for a table.
var tableExists = map[Dialect]string{
	Postgres: "SELECT to_regclass(?) IS NOT NULL",
	SQLite:   "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)",
}

// schemaVersion reads the version without creating goose's table, so that the check never writes.
func (d *DB) schemaVersion(ctx context.Context) (int64, error) {
	if exists, err := d.hasVersionTable(ctx); err != nil || !exists {
		return 0, err
	}
	var version int64
	err := d.with(ctx).Raw("SELECT COALESCE(MAX(version_id), 0) FROM " + goose.DefaultTablename +
		" WHERE is_applied").Scan(&version).Error
	if err != nil {
		return 0, fmt.Errorf("reading the database's version: %w", err)
	}
	return version, nil
}

// hasVersionTable reports whether a migration was ever begun on the database.
func (d *DB) hasVersionTable(ctx context.Context) (exists bool, err error) {
	if err := d.with(ctx).Raw(tableExists[d.dialect], goose.DefaultTablename).Scan(&exists).Error; err != nil {
		return false, fmt.Errorf("looking for the database's version: %w", err)
	}
	return exists, nil
}

func (d *DB) migrations() (*goose.Provider, error) {
	files, err := migrationsFor(d.dialect)
	if err != nil {
		return nil, err
	}
	if d.dialect == SQLite {
		return goose.NewProvider(goose.DialectSQLite3, d.pool.DB, files)
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, d.pool.DB, files, goose.WithSessionLocker(waitingSession{locker}))
}

// waitingSession keeps PostgreSQL from ending the session that waits for the lock: it is idle for
// five seconds between two attempts, and the role or the database may allow less. PostgreSQL before
// 14 does not have the setting.
type waitingSession struct{ lock.SessionLocker }

func (w waitingSession) SessionLock(ctx context.Context, session *sql.Conn) error {
	_, err := session.ExecContext(ctx, `SELECT set_config(name, '0', FALSE) FROM pg_settings WHERE name = 'idle_session_timeout'`)
	if err != nil {
		return err
	}
	return w.SessionLocker.SessionLock(ctx, session)
}

func (w waitingSession) SessionUnlock(ctx context.Context, session *sql.Conn) error {
	err := w.SessionLocker.SessionUnlock(ctx, session)
	_, reset := session.ExecContext(ctx,
		`SELECT set_config(name, reset_val, FALSE) FROM pg_settings WHERE name = 'idle_session_timeout'`)
	return errors.Join(err, reset)
}

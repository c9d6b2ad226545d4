package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pressly/goose/v3/lock"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func TestMigrate_againChangesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx := context.Background()
		applied, err := database.Migrate(ctx)
		require.NoError(t, err)
		require.Zero(t, applied)
		require.NoError(t, database.CheckVersion(ctx))
		migrations, err := database.Migrations(ctx)
		require.NoError(t, err)
		require.NotEmpty(t, migrations)
		for _, migration := range migrations {
			require.True(t, migration.Applied, migration.Name)
		}
	})
}

// On PostgreSQL several processes may migrate at once: one does the work, the others wait for it.
func TestMigrate_severalProcessesAtOnce(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	database := dbtest.Open(t, databaseURL)
	undoLatest(t, database)
	require.ErrorContains(t, database.CheckVersion(context.Background()), "not migrated")
	// No migration completes before every process has started.
	barrier, err := database.SQL().Begin()
	require.NoError(t, err)
	_, err = barrier.Exec("LOCK TABLE goose_db_version IN SHARE MODE")
	require.NoError(t, err)
	processes := make([]*db.DB, 4)
	for i := range processes {
		processes[i] = dbtest.Open(t, databaseURL)
	}
	var all sync.WaitGroup
	errs, applied := make([]error, len(processes)), make([]int, len(processes))
	for i, process := range processes {
		all.Go(func() { applied[i], errs[i] = process.Migrate(context.Background()) })
	}
	// One waits for the table; the others have asked for the migration's own lock and did not get it.
	poll.Until(t, func() error {
		var blocked, refused int
		err := database.SQL().QueryRow(`SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'),
			count(*) FILTER (WHERE state = 'idle' AND query ILIKE '%pg_try_advisory_lock%')
			FROM pg_stat_activity WHERE datname = current_database()`).Scan(&blocked, &refused)
		if err == nil && blocked+refused < len(processes) {
			err = fmt.Errorf("%d wait for the table and %d for the lock", blocked, refused)
		}
		return err
	})
	require.NoError(t, barrier.Rollback())
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, database.CheckVersion(context.Background()))
	slices.Sort(applied)
	require.Equal(t, []int{0, 0, 0, 1}, applied)
}

// A migration that waits for another is not ended by a limit on idle sessions, which the database
// may have; the limit holds for the session again afterwards.
func TestMigrate_waitsLongerThanASessionMayBeIdle(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	database := dbtest.Open(t, databaseURL)
	undoLatest(t, database)
	holder, err := database.SQL().Conn(t.Context())
	require.NoError(t, err)
	defer holder.Close()
	_, err = holder.ExecContext(t.Context(), "SELECT pg_advisory_lock($1)", lock.DefaultLockID)
	require.NoError(t, err)
	waiter, err := db.Open(t.Context(), databaseURL+"&idle_session_timeout=500ms", db.Options{MaxConns: 2, ConnectTimeout: poll.Deadline})
	require.NoError(t, err)
	defer waiter.Close()
	migrated := make(chan error, 1)
	go func() { _, err := waiter.Migrate(t.Context()); migrated <- err }()
	poll.Until(t, func() error {
		var refused int
		err := database.SQL().QueryRow(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND state = 'idle' AND query ILIKE '%pg_try_advisory_lock%'`).Scan(&refused)
		if err == nil && refused == 0 {
			err = errors.New("it has not asked for the lock yet")
		}
		return err
	})
	_, err = holder.ExecContext(t.Context(), "SELECT pg_advisory_unlock($1)", lock.DefaultLockID)
	require.NoError(t, err)
	require.NoError(t, <-migrated)
	var limit string
	require.NoError(t, waiter.SQL().QueryRow("SHOW idle_session_timeout").Scan(&limit))
	require.Equal(t, "500ms", limit)
}

// So it is on SQLite, from the first migration on.
func TestMigrate_severalProcessesAtOnceOnSQLite(t *testing.T) {
	t.Parallel()
	databaseURL := "sqlite:" + filepath.Join(t.TempDir(), "despacho.db")
	processes := make([]*db.DB, 4)
	for i := range processes {
		processes[i] = dbtest.Open(t, databaseURL)
	}
	// No migration begins before every process has started.
	barrier, err := processes[0].SQL().Begin()
	require.NoError(t, err)
	var all sync.WaitGroup
	errs, applied := make([]error, len(processes)), make([]int, len(processes))
	for i, process := range processes {
		all.Go(func() { applied[i], errs[i] = process.Migrate(context.Background()) })
	}
	require.NoError(t, barrier.Rollback())
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, processes[0].CheckVersion(context.Background()))
	slices.Sort(applied)
	require.Equal(t, []int{0, 0, 0}, applied[:3])
	require.Positive(t, applied[3])
}

// A migration that waited for a table would have every other use of it wait behind it.
func TestMigrate_doesNotWaitForATable(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	database := dbtest.Open(t, databaseURL)
	undoLatest(t, database)
	holder, err := database.SQL().Begin()
	require.NoError(t, err)
	_, err = holder.Exec("LOCK TABLE goose_db_version IN SHARE MODE")
	require.NoError(t, err)
	impatient, err := db.Open(t.Context(), databaseURL, db.Options{ConnectTimeout: poll.Deadline, LockTimeout: time.Millisecond})
	require.NoError(t, err)
	defer impatient.Close()
	_, err = impatient.Migrate(t.Context())
	require.ErrorContains(t, err, "lock timeout")
	require.NoError(t, holder.Rollback())
	require.ErrorContains(t, database.CheckVersion(t.Context()), "not migrated", "nothing was changed")
	applied, err := database.Migrate(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, applied)
}

// undoLatest rolls back the latest migration.
func undoLatest(t *testing.T, database *db.DB) {
	t.Helper()
	latest := latestMigration(t, database)
	source, err := os.ReadFile(filepath.Join("migrations", latest.Name))
	require.NoError(t, err)
	_, undo, found := strings.Cut(string(source), "-- +goose Down")
	require.True(t, found, latest.Name)
	undo += fmt.Sprintf(";DELETE FROM goose_db_version WHERE version_id = %d", latest.Version)
	for statement := range strings.SplitSeq(undo, ";") {
		_, err := database.SQL().Exec(statement)
		require.NoError(t, err, statement)
	}
}

func TestCheckVersion_notMigrated(t *testing.T) {
	t.Parallel()
	database := dbtest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "empty.db"))
	err := database.CheckVersion(context.Background())
	require.ErrorContains(t, err, "not migrated")
	require.ErrorContains(t, err, "despacho migrate up")
}

// Whoever may only read, or looks at a standby, can ask for the migrations of a database that has
// none yet.
func TestMigrations_ofAnEmptyDatabaseWriteNothing(t *testing.T) {
	t.Parallel()
	database := dbtest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "empty.db"))
	migrations, err := database.Migrations(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, migrations)
	for i, migration := range migrations {
		require.Equal(t, int64(i+1), migration.Version)
		require.NotEmpty(t, migration.Name)
		require.False(t, migration.Applied, migration.Name)
	}
	var tables int
	require.NoError(t, database.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_master").Scan(&tables))
	require.Zero(t, tables)
}

// A binary runs on a later schema if every migration that it does not know declares that it may.
func TestCheckVersion_newerWithADeclaration(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		known := latestMigration(t, database).Version
		apply := func(version int64, oldestBinary ...int64) {
			_, err := database.SQL().Exec(fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true)", version))
			require.NoError(t, err)
			for _, oldest := range oldestBinary {
				_, err := database.SQL().Exec(fmt.Sprintf("INSERT INTO schema_compatibility (version, oldest_binary) VALUES (%d, %d)", version, oldest))
				require.NoError(t, err)
			}
		}
		apply(90001, known)
		require.NoError(t, database.CheckVersion(t.Context()), "it declares that this binary works")
		applied, err := database.Migrate(t.Context())
		require.NoError(t, err, "its `migrate up` has nothing to do")
		require.Zero(t, applied)
		apply(90002, known-1)
		require.NoError(t, database.CheckVersion(t.Context()), "so does the next one, and older binaries too")

		apply(90003, 90001)
		require.ErrorContains(t, database.CheckVersion(t.Context()), "migration 90003 does not allow a binary as old as this")
		apply(90004, known)
		require.ErrorContains(t, database.CheckVersion(t.Context()), "migration 90003", "a later one cannot take it back")
	})
}

// Whoever goes back to a binary sees what a later release has made of the database.
func TestMigrations_listsThoseOfALaterRelease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		before, err := database.Migrations(t.Context())
		require.NoError(t, err)
		_, err = database.SQL().Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (90001, true), (90002, false)")
		require.NoError(t, err)
		after, err := database.Migrations(t.Context())
		require.NoError(t, err)
		require.Len(t, after, len(before)+1)
		later := after[len(before)]
		require.Equal(t, int64(90001), later.Version)
		require.True(t, later.Applied)
		require.Empty(t, later.Name)
		require.False(t, later.AppliedAt.IsZero())
	})
}

func TestCheckVersion_newerWithoutADeclaration(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		_, err := database.SQL().Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
		require.NoError(t, err)
		err = database.CheckVersion(t.Context())
		require.ErrorContains(t, err, "newer than this binary")
		require.ErrorContains(t, err, "migration 99999", "one that declares nothing allows nobody")
		_, err = database.Migrate(t.Context())
		require.ErrorContains(t, err, "newer than this binary", "nor may it migrate")
	})
}

// Whoever adds a migration says which binaries work after it.
func TestMigrations_declareTheOldestBinary(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		rows, err := database.SQL().Query("SELECT version, oldest_binary FROM schema_compatibility")
		require.NoError(t, err)
		defer rows.Close()
		declared := map[int64]int64{}
		for rows.Next() {
			var version, oldest int64
			require.NoError(t, rows.Scan(&version, &oldest))
			declared[version] = oldest
		}
		require.NoError(t, rows.Err())
		migrations, err := database.Migrations(t.Context())
		require.NoError(t, err)
		for _, migration := range migrations {
			require.Contains(t, declared, migration.Version, "%s must insert its row into schema_compatibility", migration.Name)
			require.LessOrEqual(t, declared[migration.Version], migration.Version, migration.Name)
			delete(declared, migration.Version)
		}
		require.Empty(t, declared, "rows of migrations that do not exist")
	})
}

func latestMigration(t *testing.T, database *db.DB) db.Migration {
	t.Helper()
	migrations, err := database.Migrations(context.Background())
	require.NoError(t, err)
	return migrations[len(migrations)-1]
}

func TestOpen_wrongAddressNamesTheVariable(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"mysql://x", "postgres://127.0.0.1:1/x?connect_timeout=1", "postgres://%zz", "sqlite:", "sqlite:/does/not/exist/x.db"} {
		_, err := db.Open(context.Background(), address, db.Options{})
		require.ErrorContains(t, err, "DATABASE_URL", address)
		require.NotContains(t, err.Error(), "\n", "one clear line")
	}
}

// The address is right where the file that it names was not mounted. No answer has the password.
func TestOpen_saysWhichFileCannotBeRead(t *testing.T) {
	t.Parallel()
	const address = "postgres://despacho:secret@127.0.0.1:1/despacho?sslmode=verify-full&sslrootcert="
	missing := filepath.Join(t.TempDir(), "rds.pem")
	_, err := db.Open(t.Context(), address+missing, db.Options{})
	require.ErrorContains(t, err, "open "+missing+": no such file or directory")
	require.ErrorContains(t, err, "DATABASE_URL")
	require.NotContains(t, err.Error(), "secret")

	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err = db.Open(t.Context(), address+empty, db.Options{})
	require.ErrorContains(t, err, "certificate")
	require.NotContains(t, err.Error(), "secret")
}

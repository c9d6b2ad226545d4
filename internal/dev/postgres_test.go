package dev

import (
	"context"
	"errors"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func startPostgres(t *testing.T, options PostgresOptions) *Postgres {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs PostgreSQL")
	}
	server, err := StartPostgres(t.Context(), options)
	if errors.Is(err, ErrNoPostgres) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	return server
}

func TestStartPostgres_answersOnLoopbackUntilStopped(t *testing.T) {
	t.Parallel()
	server := startPostgres(t, PostgresOptions{})
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", address.Hostname())

	session, err := pgx.Connect(t.Context(), server.URL)
	require.NoError(t, err)
	defer session.Close(context.Background())
	settings := map[string]string{}
	for _, name := range []string{"listen_addresses", "max_connections", "fsync", "unix_socket_directories", "server_encoding"} {
		var value string
		require.NoError(t, session.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&value))
		settings[name] = value
	}
	require.Equal(t, map[string]string{"listen_addresses": "127.0.0.1", "max_connections": "300", "fsync": "off",
		"unix_socket_directories": server.Dir, "server_encoding": "UTF8"}, settings)

	require.NoError(t, server.Stop(t.Context()), "an open session does not hold it up")
	require.NoError(t, server.Err())
	require.NoDirExists(t, server.Dir)
}

func TestStartPostgres_leavesNothingWhenItsStartIsCancelled(t *testing.T) {
	t.Parallel()
	startPostgres(t, PostgresOptions{}) // there is one to start
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	directory, err := os.MkdirTemp("", "despacho-test-") // not t.TempDir, which other users cannot enter
	require.NoError(t, err)
	defer os.RemoveAll(directory)
	require.NoError(t, os.Chmod(directory, 0o755))
	_, err = StartPostgres(ctx, PostgresOptions{Dir: directory})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	left, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestPostgres_whatWasCommittedOutlivesACrash(t *testing.T) {
	t.Parallel()
	server := startPostgres(t, PostgresOptions{Durable: true})
	session, err := pgx.Connect(t.Context(), server.URL)
	require.NoError(t, err)
	_, err = session.Exec(t.Context(), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
	require.NoError(t, err)

	server.Kill()
	require.Error(t, session.Ping(t.Context()), "the sessions die with the server")
	require.NoError(t, server.Restart(t.Context()))
	session, err = pgx.Connect(t.Context(), server.URL)
	require.NoError(t, err)
	defer session.Close(context.Background())
	var kept int
	require.NoError(t, session.QueryRow(t.Context(), "SELECT n FROM kept").Scan(&kept))
	require.Equal(t, 7, kept)

	server.Pause()
	paused, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = pgx.Connect(paused, server.URL)
	require.ErrorIs(t, err, context.DeadlineExceeded, "a paused server answers nobody")
	server.Resume()
	require.NoError(t, session.Ping(t.Context()))
}

// A server starts from a base backup as of its end, or recovers from the archive to a point in
// time.
func TestStartPostgres_fromABaseBackup(t *testing.T) {
	t.Parallel()
	place, err := os.MkdirTemp("", "despacho-test-") // not t.TempDir, which other users cannot enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(place)) })
	require.NoError(t, os.Chmod(place, 0o777))
	server := startPostgres(t, PostgresOptions{Settings: map[string]string{"archive_mode": "on", "archive_command": "cp %p " + place + "/%f"}})
	query := func(url, statement string) (value string) {
		require.NoError(t, OnDatabase(t.Context(), url, func(session *pgx.Conn) error {
			return session.QueryRow(t.Context(), statement).Scan(&value)
		}))
		return value
	}
	require.NoError(t, Execute(t.Context(), server.URL, "CREATE TABLE rows (n int)"))
	add := func() { require.NoError(t, Execute(t.Context(), server.URL, "INSERT INTO rows VALUES (1)")) }
	add()
	require.NoError(t, server.Run(t.Context(), "pg_basebackup", "-d", server.URL, "-D", place+"/base", "-Ft", "-X", "fetch", "-c", "fast"))
	add()
	target := query(server.URL, "SELECT clock_timestamp()::text")
	add()
	query(server.URL, "SELECT pg_switch_wal()::text")
	require.NoError(t, server.Stop(t.Context())) // a server that stops archives what is left

	for name, test := range map[string]struct {
		settings map[string]string
		rows     string
	}{
		"as it was copied": {nil, "1"},
		"a point in time": {map[string]string{
			"restore_command": "cp " + place + "/%f %p", "recovery_target_time": target, "recovery_target_action": "promote",
		}, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			restored, err := StartPostgres(t.Context(), PostgresOptions{BaseBackup: place + "/base/base.tar", Recover: test.settings != nil, Settings: test.settings})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, restored.Stop(context.Background())) })
			require.Equal(t, test.rows, query(restored.URL, "SELECT count(*)::text FROM rows"))
			require.NoError(t, Execute(t.Context(), restored.URL, "INSERT INTO rows VALUES (1)"), "it takes writes")
		})
	}
}

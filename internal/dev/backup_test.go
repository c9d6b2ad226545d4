package dev

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/internal/sqlitefile"
)

// counter is a SQLite file with one number in it.
func counter(t *testing.T, file string) *sql.DB {
	t.Helper()
	database, err := sql.Open("sqlite", sqlitefile.URI(file, url.Values{"_pragma": {"journal_mode(WAL)", "busy_timeout(60000)"}}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	for _, statement := range []string{"CREATE TABLE IF NOT EXISTS counter (value INTEGER)", "INSERT INTO counter SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM counter)"} {
		_, err = database.Exec(statement)
		require.NoError(t, err)
	}
	return database
}

func valueOf(t *testing.T, database *sql.DB) (value int) {
	t.Helper()
	require.NoError(t, database.QueryRow("SELECT value FROM counter").Scan(&value))
	return value
}

// Under writes the copies belong together: nothing is in Temporal's that the service's does not
// have yet, and no photo is missing that a row names.
func TestBackup_whileEverythingIsWritten(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "c# 100%41?")
	require.NoError(t, os.MkdirAll(filepath.Join(root, FilesDir, "quarantine"), 0o700))
	backup := Backup{Dir: root, Database: filepath.Join(root, DatabaseFile), Temporal: filepath.Join(root, TemporalFile), Files: filepath.Join(root, FilesDir)}
	rows, workflows := counter(t, backup.Database), counter(t, backup.Temporal)
	longAgo := time.Now().Add(-time.Hour).Truncate(time.Second)
	for name, content := range map[string]string{"secret.key": "secret", TemporalLog: "log", filepath.Join(FilesDir, ".upload-1"): "half", filepath.Join(FilesDir, "quarantine", "a.jpg"): "photo"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(root, name), longAgo, longAgo))
	}

	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	var writing errgroup.Group
	writing.Go(func() error { // a move is in the service's database before it is in Temporal's
		for ctx.Err() == nil {
			for _, database := range []*sql.DB{rows, workflows} {
				if _, err := database.Exec("UPDATE counter SET value = value + 1"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for range 5 {
		target := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, backup.Into(t.Context(), target))
		copiedRows, copiedWorkflows := valueOf(t, counter(t, filepath.Join(target, DatabaseFile))), valueOf(t, counter(t, filepath.Join(target, TemporalFile)))
		require.GreaterOrEqual(t, copiedRows, copiedWorkflows)
		require.LessOrEqual(t, copiedRows-copiedWorkflows, 1, "only what is under way may be missing")
		secret, err := os.Stat(filepath.Join(target, "secret.key"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), secret.Mode().Perm())
		photo, err := os.Stat(filepath.Join(target, FilesDir, "quarantine", "a.jpg"))
		require.NoError(t, err)
		require.True(t, photo.ModTime().Equal(longAgo), "its time in quarantine counts on")
		for _, leftOut := range []string{TemporalLog, filepath.Join(FilesDir, ".upload-1")} {
			require.NoFileExists(t, filepath.Join(target, leftOut))
		}
	}
	stop()
	require.NoError(t, writing.Wait())
	require.Equal(t, valueOf(t, rows), valueOf(t, workflows))
}

func TestBackup_refusesAPlaceThatIsTaken(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	backup := Backup{Dir: root, Database: filepath.Join(root, DatabaseFile), Files: filepath.Join(root, FilesDir)}
	counter(t, backup.Database)
	require.ErrorContains(t, backup.Into(t.Context(), filepath.Join(root, "copy")), "is inside of")
	taken := t.TempDir()
	require.ErrorIs(t, backup.Into(t.Context(), taken), os.ErrExist)
	absent := Backup{Dir: root, Database: filepath.Join(root, "other.db"), Files: root}
	target := filepath.Join(t.TempDir(), "copy")
	require.ErrorIs(t, absent.Into(t.Context(), target), os.ErrNotExist)
	require.NoDirExists(t, target, "a failed copy leaves nothing")
}

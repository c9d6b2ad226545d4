package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/internal/dev"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// The copy of dev's directory is one with which dev starts.
func TestDevBackup(t *testing.T) {
	directory := t.TempDir()
	content, err := os.ReadFile(strings.TrimPrefix(testenv.SQLite(t), sqlitePrefix))
	require.NoError(t, err)
	for _, name := range []string{dev.DatabaseFile, dev.TemporalFile} { // any database does for Temporal's
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), content, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(directory, "secret.key"), []byte("secret"), 0o600))
	t.Setenv("DEV_DIR", directory)
	t.Setenv("TEMPORAL_ADDRESS", "")
	target := filepath.Join(t.TempDir(), "a copy")
	out, err := despacho(t, "", "dev", "backup", target)
	require.NoError(t, err)
	setting := regexp.MustCompile(`DEV_DIR=.*"`).FindString(out)
	printed, err := exec.Command("sh", "-c", setting+" printenv DEV_DIR").Output()
	require.NoError(t, err, "as a shell reads %s", out)
	require.Equal(t, target+"\n", string(printed))
	for _, name := range []string{dev.TemporalFile, "secret.key"} {
		require.FileExists(t, filepath.Join(target, name))
	}
	copied, err := db.Open(t.Context(), sqlitePrefix+filepath.Join(target, dev.DatabaseFile), db.Options{ConnectTimeout: poll.Deadline})
	require.NoError(t, err)
	defer copied.Close()
	require.NoError(t, copied.CheckVersion(t.Context()))

	t.Setenv("DATABASE_URL", "postgres://despacho@127.0.0.1/despacho")
	_, err = despacho(t, "", "dev", "backup", target+"2")
	require.ErrorContains(t, err, "docs/operations.md")
}

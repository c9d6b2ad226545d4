package main

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/closedport"
	"despacho/test/testenv"
)

// fullDisk takes nothing, as /dev/full.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A script that keeps what a command prints must not take an empty file for a success.
func TestCommands_failIfNothingCanBePrinted(t *testing.T) {
	t.Setenv("DATABASE_URL", testenv.SQLite(t))
	t.Setenv("SECRET_KEY", goodSecret)
	t.Setenv("TEMPORAL_ADDRESS", closedport.Address(t))
	t.Setenv("FILES_DIR", t.TempDir())
	database, err := openDatabase(t.Context())
	require.NoError(t, err)
	defer database.Close()
	_, err = loadCatalog(t.Context(), database)
	require.NoError(t, err)
	_, err = despacho(t, "", "operator", "create", "Rayo")
	require.NoError(t, err)
	for _, line := range []string{
		"version", "resolve https://www.google.com/maps/place/-12.1219,-77.0297", "migrate up", "migrate status", "operator list", "operator list --json",
		"operator plan Rayo pro", "reconcile", "secrets rotate", "operator erase --operator Rayo --phone 987654321",
	} {
		root := rootCommand()
		root.SetArgs(strings.Fields(line))
		root.SetOut(fullDisk{})
		root.SetErr(io.Discard)
		require.ErrorIs(t, root.ExecuteContext(t.Context()), syscall.ENOSPC, line)
	}
}

package dev

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A port that waits to be listened on is another process's to choose only when this one has ended.
func TestClaimPort_otherProcesses(t *testing.T) {
	t.Parallel()
	const variable = "DESPACHO_TEST_CLAIM_PORT"
	if wanted := os.Getenv(variable); wanted != "" {
		port, err := strconv.Atoi(wanted)
		require.NoError(t, err)
		claimed, err := claimPort(port)
		require.NoError(t, err)
		require.False(t, claimed, "another process has claimed it")
		return
	}
	port, err := FreePort(loopback)
	require.NoError(t, err)
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClaimPort_otherProcesses$")
	other.Env = append(os.Environ(), variable+"="+strconv.Itoa(port))
	output, err := other.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

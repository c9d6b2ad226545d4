package dev

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFreePort_canBeListenedOn(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 50 {
		port, err := FreePort(loopback)
		require.NoError(t, err)
		require.False(t, seen[port], "the same port twice")
		seen[port] = true
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		require.NoError(t, err)
		require.NoError(t, listener.Close())
	}
}

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

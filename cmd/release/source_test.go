package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A release is called as docs/operations.md says: by the commit's tag, by its short id where it has
// none, and with changes so that nobody takes it for the commit.
func TestDescribe_version(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	command := func(arguments ...string) {
		require.NoError(t, run(exec.Command("git", append([]string{"-C", directory, "-c", "user.name=a", "-c", "user.email=a@example.com"}, arguments...)...)))
	}
	version := func(name string) string {
		described, err := describe(t.Context(), directory)
		require.NoError(t, err)
		return described.release(name)
	}
	command("init", "-q")
	command("commit", "-q", "--allow-empty", "-m", "first")
	command("tag", "v1.4.0")
	require.Equal(t, "v1.4.0", version(""))
	require.Equal(t, "1.4.0", version("1.4.0"))

	command("commit", "-q", "--allow-empty", "-m", "second")
	described, err := describe(t.Context(), directory)
	require.NoError(t, err)
	require.Equal(t, described.commit[:12], version(""), "the tag is another commit's")

	require.NoError(t, os.WriteFile(filepath.Join(directory, "changed"), nil, 0o600))
	require.Equal(t, described.commit[:12]+"-modified", version(""))
	require.Equal(t, "1.4.0-modified", version("1.4.0"))
}

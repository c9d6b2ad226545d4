package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The checker of the workflows works in a clone whose path has a space.
func TestWorkflowcheck_inAPathWithASpace(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "bin"), 0o755))
	directory, err := os.MkdirTemp(filepath.Join(root, "bin"), "with a space ")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	checker := workflowcheck("bin/" + filepath.Base(directory))
	for _, command := range [][]string{checker.build, checker.command} {
		run := exec.CommandContext(t.Context(), command[0], command[1:]...)
		run.Dir = root
		output, err := run.CombinedOutput()
		require.NoError(t, err, string(output))
	}
}

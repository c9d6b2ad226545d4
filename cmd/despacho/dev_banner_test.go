package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/encryption"
)

// The key is made once. A file that a full disk has left empty is no key: dev would never start
// again.
func TestDevSecret(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	empty := filepath.Join(directory, "empty.key")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, file := range []string{filepath.Join(directory, "secret.key"), empty} {
		secret, err := devSecret(file)
		require.NoError(t, err)
		_, err = encryption.New(secret)
		require.NoError(t, err)
		again, err := devSecret(file)
		require.NoError(t, err)
		require.Equal(t, secret, again)
	}
}

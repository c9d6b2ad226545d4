package filelock_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/filelock"
)

func TestTry_oneHolderAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	release, err := filelock.Try(path)
	require.NoError(t, err)
	_, err = filelock.Try(path)
	require.ErrorIs(t, err, filelock.ErrHeld)
	release()
	release, err = filelock.Try(path)
	require.NoError(t, err)
	release()
	_, err = filelock.Try(filepath.Join(path, "below a file"))
	require.ErrorContains(t, err, path)
}

func TestWait_untilTheHolderReleases(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	held, err := filelock.Try(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = filelock.Wait(ctx, path, cancel)
	require.ErrorIs(t, err, context.Canceled)
	release, err := filelock.Wait(t.Context(), path, held)
	require.NoError(t, err)
	release()
}

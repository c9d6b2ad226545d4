package photos

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The directory of the photos outlives a power cut: the name of each one that is made is synced, in
// the directory above it.
func TestMakeDirectories(t *testing.T) {
	t.Parallel()
	var synced []string
	sync := func(path string) error { synced = append(synced, path); return nil }
	root := t.TempDir()
	path := filepath.Join(root, "lib", "despacho", "files")
	require.NoError(t, makeDirectories(path+"/", sync))
	require.DirExists(t, path)
	require.Equal(t, []string{root, filepath.Join(root, "lib"), filepath.Join(root, "lib", "despacho")}, synced)

	synced = nil
	require.NoError(t, makeDirectories(path, sync))
	require.Empty(t, synced, "it was there")

	file := filepath.Join(path, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Error(t, makeDirectories(file, sync), "a file is no directory")
	require.Error(t, makeDirectories(filepath.Join(file, "files"), sync))

	link := filepath.Join(root, "link")
	require.NoError(t, os.Symlink(filepath.Join(root, "nowhere"), link))
	require.Error(t, makeDirectories(link, sync), "a link that leads nowhere is no directory")

	broken := errors.New("the disk is broken")
	require.ErrorIs(t, makeDirectories(filepath.Join(root, "other"), func(string) error { return broken }), broken)
}

// A relative path is below the working directory, which is there.
func TestMakeDirectories_relative(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, directory("files").prepare())
	require.DirExists(t, "files")
}

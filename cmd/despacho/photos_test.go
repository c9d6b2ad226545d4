package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/test/testenv"
)

// The photos of a directory end up in a bucket, and are deleted only when that is asked for.
func TestPhotosMove_fromADirectoryToABucket(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, _ *db.DB) {
		files, bucket := t.TempDir(), testenv.NewBucket(t)
		names := []string{"0123456789abcdef0123456789abcdef.jpg", "0123456789abcdef0123456789abcdef.thumb.jpg"}
		for _, name := range names {
			require.NoError(t, os.WriteFile(filepath.Join(files, name), []byte(name), 0o600))
		}
		t.Setenv("PHOTOS", bucket.Location())
		t.Setenv("PHOTOS_FALLBACK", files)
		out, err := despacho(t, "", "photos", "move")
		require.NoError(t, err)
		require.Contains(t, out, "copied: 1, there already: 0, erased: 0, deleted from the old place: 0, failed: 0\n")
		for _, name := range names {
			require.FileExists(t, filepath.Join(files, name))
		}
		out, err = despacho(t, "", "photos", "move", "--delete-source")
		require.NoError(t, err)
		require.Contains(t, out, "copied: 0, there already: 1, erased: 0, deleted from the old place: 1, failed: 0\n")
		left, err := os.ReadDir(files)
		require.NoError(t, err)
		require.Empty(t, left)

		back := filepath.Join(t.TempDir(), "back")
		out, err = despacho(t, "", "photos", "move", "--from", bucket.Location(), "--to", back)
		require.NoError(t, err)
		require.Contains(t, out, "copied: 1,")
		for _, name := range names {
			content, err := os.ReadFile(filepath.Join(back, name))
			require.NoError(t, err)
			require.Equal(t, name, string(content))
		}
	})
}

func TestPhotosMove_saysWhatIsMissing(t *testing.T) {
	t.Setenv("DATABASE_URL", testenv.SQLite(t))
	_, err := despacho(t, "", "photos", "move")
	require.ErrorContains(t, err, "PHOTOS_FALLBACK")
	_, err = despacho(t, "", "photos", "move", "--from", "gs://fotos")
	require.ErrorContains(t, err, "--from begins with gs://")
	_, err = despacho(t, "", "photos", "move", "--from", "files", "--to", "s3://")
	require.ErrorContains(t, err, "--to names no bucket")
	missing := filepath.Join(t.TempDir(), "fiels")
	_, err = despacho(t, "", "photos", "move", "--from", missing, "--to", t.TempDir())
	require.ErrorContains(t, err, missing)
}

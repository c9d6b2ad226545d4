package photos_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/photos"
)

func TestSweep_removesOldUnreferencedFiles(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	save := func() string {
		name, err := store.Save(t.Context(), "operator", picture(t, 8, 8))
		require.NoError(t, err)
		return name
	}
	owned, orphan := save(), save()
	lonely := "0123456789abcdef0123456789abcdef.thumb.jpg"
	for _, name := range []string{".upload-dead", lonely, "notes.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(store.Dir, name), []byte("x"), 0o600))
	}
	longAgo := time.Now().Add(-time.Hour)
	for _, name := range files(t, store) {
		require.NoError(t, os.Chtimes(filepath.Join(store.Dir, name), longAgo, longAgo))
	}
	young := save()
	require.NoError(t, os.WriteFile(filepath.Join(store.Dir, ".upload-alive"), []byte("x"), 0o600))

	removed, err := store.Sweep(t.Context(), longAgo.Add(time.Minute), func(_ context.Context, names []string) ([]string, error) {
		require.ElementsMatch(t, []string{owned, orphan}, names, "only what is old is asked about")
		return []string{owned}, nil
	})
	require.NoError(t, err)
	require.Equal(t, 4, removed)
	require.ElementsMatch(t, []string{
		owned, photos.ThumbnailName(owned), young, photos.ThumbnailName(young), ".upload-alive", "notes.txt",
	}, files(t, store))
}

func TestSweep_keepsPhotosWhenTheLookupFails(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	name, err := store.Save(t.Context(), "operator", picture(t, 8, 8))
	require.NoError(t, err)
	down := errors.New("the database is away")
	_, err = store.Sweep(t.Context(), time.Now().Add(time.Minute), func(context.Context, []string) ([]string, error) { return nil, down })
	require.ErrorIs(t, err, down)
	require.ElementsMatch(t, []string{name, photos.ThumbnailName(name)}, files(t, store))
}

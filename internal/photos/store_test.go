package photos_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/apperror"
	"despacho/internal/photos"
)

func newStore(t *testing.T) photos.Store {
	t.Helper()
	store := photos.Store{Dir: filepath.Join(t.TempDir(), "made", "files")}
	require.NoError(t, store.Prepare())
	return store
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewRGBA(image.Rect(0, 0, width, height))))
	return out.Bytes()
}

func files(t *testing.T, store photos.Store) []string {
	t.Helper()
	entries, err := os.ReadDir(store.Dir)
	require.NoError(t, err)
	names := []string{}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestStore_keepsAPhotoAndItsThumbnail(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	content := picture(t, 1200, 600)
	name, err := store.Save(t.Context(), "operator", content)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{32}\.png$`, name)
	require.Equal(t, strings.TrimSuffix(name, ".png")+".thumb.jpg", photos.ThumbnailName(name))
	require.ElementsMatch(t, []string{name, photos.ThumbnailName(name)}, files(t, store))

	file, err := store.Open(name)
	require.NoError(t, err)
	defer file.Close()
	kept, err := io.ReadAll(file)
	require.NoError(t, err)
	require.Equal(t, content, kept, "a clean photo is kept as it is")

	small, err := store.Open(photos.ThumbnailName(name))
	require.NoError(t, err)
	defer small.Close()
	size, err := jpeg.DecodeConfig(small)
	require.NoError(t, err)
	require.Equal(t, []int{480, 240}, []int{size.Width, size.Height})

	another, err := store.Save(t.Context(), "operator", content)
	require.NoError(t, err)
	require.NotEqual(t, name, another, "names cannot be guessed from the content")

	require.NoError(t, store.Remove(name))
	require.ElementsMatch(t, []string{another, photos.ThumbnailName(another)}, files(t, store), "both are gone")
	require.NoError(t, store.Remove(name), "what is gone already is no error")
}

func TestStore_rejectsInvalidPhotos(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content []byte
		want    error
	}{
		"text":            {[]byte("<script>alert(1)</script>"), photos.ErrNotPhoto},
		"nothing":         {nil, photos.ErrNotPhoto},
		"half a picture":  {[]byte("\xff\xd8\xff\xe0 and so on"), photos.ErrNotPhoto},
		"over the limits": {make([]byte, photos.MaxBytes+1), photos.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			_, err := store.Save(t.Context(), "operator", test.content)
			require.ErrorIs(t, err, test.want)
			require.Empty(t, files(t, store))
		})
	}
}

func TestStore_opensOnlyPhotos(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	require.NoError(t, os.WriteFile(filepath.Join(store.Dir, "secret.txt"), nil, 0o600))
	for _, name := range []string{"secret.txt", "../files/secret.txt", "", ".", strings.Repeat("0", 32) + ".svg", strings.Repeat("0", 32) + ".thumb.png"} {
		_, err := store.Open(name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
}

func TestPrepare_namesTheVariable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, photos.Store{Dir: filepath.Join(file, "below")}.Prepare(), "FILES_DIR")
}

// A disk failure is not an invalid photo: the caller is told to retry.
func TestStore_diskFailure(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "files")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := photos.Store{Dir: file}.Save(t.Context(), "operator", picture(t, 8, 8))
	refusal := apperror.From(err)
	require.Equal(t, apperror.Unavailable, refusal.Kind)
	require.Equal(t, "photo_not_stored", refusal.Code)
	require.Positive(t, refusal.RetryAfter)
}

package photos

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// storedLogo saves a picture as a logo and reads the file.
func storedLogo(t *testing.T, content []byte) ([]byte, image.Image) {
	t.Helper()
	store, err := NewStore(Options{Location: t.TempDir()})
	require.NoError(t, err)
	name, err := store.SaveLogo(t.Context(), content)
	require.NoError(t, err)
	require.True(t, IsName(name))
	files, err := os.ReadDir(store.Directory())
	require.NoError(t, err)
	require.Len(t, files, 1, "a logo has no thumbnail")
	stored, err := os.ReadFile(filepath.Join(store.Directory(), name))
	require.NoError(t, err)
	pixels, err := png.Decode(bytes.NewReader(stored))
	require.NoError(t, err)
	return stored, pixels
}

func TestLogo_isEncodedAnew(t *testing.T) {
	t.Parallel()
	for name, content := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := read(content)
			require.NoError(t, err)
			_, pixels := storedLogo(t, content)
			require.Equal(t, image.Pt(p.width, p.height), pixels.Bounds().Size())
		})
	}
	hidden := withChunks(pngOf(t, scene(33, 17)), pngChunk("tEXt", "Comment\x00secreto"))
	stored, _ := storedLogo(t, append(hidden, "<script>alert(1)</script>"...))
	require.NotContains(t, string(stored), "secreto")
	require.NotContains(t, string(stored), "script")
}

func TestLogo_isSmallAndUpright(t *testing.T) {
	t.Parallel()
	_, pixels := storedLogo(t, withSegments(jpegOf(t, scene(2000, 1000)), gpsEXIF(binary.LittleEndian, 6)))
	require.Equal(t, image.Pt(logoSide/2, logoSide), pixels.Bounds().Size())
	requireColour(t, blue, pixels.At(logoSide/8, logoSide/4))
}

func TestLogo_keepsItsTransparency(t *testing.T) {
	t.Parallel()
	picture := image.NewNRGBA(image.Rect(0, 0, 1600, 800))
	for x := range 800 {
		for y := range 800 {
			picture.SetNRGBA(x, y, color.NRGBA{R: 255, A: 255})
		}
	}
	_, pixels := storedLogo(t, pngOf(t, picture))
	_, _, _, opaque := pixels.At(logoSide/4, logoSide/4).RGBA()
	_, _, _, transparent := pixels.At(logoSide*3/4, logoSide/4).RGBA()
	require.Equal(t, []uint32{0xffff, 0}, []uint32{opaque, transparent})
}

func TestLogo_refusals(t *testing.T) {
	t.Parallel()
	store, err := NewStore(Options{Location: t.TempDir()})
	require.NoError(t, err)
	for content, want := range map[string]error{
		"": ErrNotPhoto, "<svg xmlns='http://www.w3.org/2000/svg'/>": ErrNotPhoto, "GIF89a": ErrNotPhoto,
		string(make([]byte, MaxBytes+1)):                           ErrTooLarge,
		string(pngHeader(maxPhotoSide+1, maxPhotoSide+1, 8, 6, 0)): ErrTooManyPixels,
	} {
		_, err := store.SaveLogo(t.Context(), []byte(content))
		require.ErrorIs(t, err, want)
	}
	files, err := os.ReadDir(store.Directory())
	require.NoError(t, err)
	require.Empty(t, files)
}

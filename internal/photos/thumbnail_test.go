package photos

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"
)

func thumbnailOf(t *testing.T, photo []byte, maxSide int) image.Image {
	t.Helper()
	thumbnail, err := Thumbnail(photo, maxSide)
	require.NoError(t, err)
	pixels, err := jpeg.Decode(bytes.NewReader(thumbnail))
	require.NoError(t, err)
	return pixels
}

// requireColour allows for what JPEG loses.
func requireColour(t *testing.T, want color.RGBA, got color.Color) {
	t.Helper()
	const tolerance = 24
	r, g, b, _ := got.RGBA()
	require.InDelta(t, want.R, r>>8, tolerance, "red of %v", got)
	require.InDelta(t, want.G, g>>8, tolerance, "green of %v", got)
	require.InDelta(t, want.B, b>>8, tolerance, "blue of %v", got)
}

func TestThumbnailIsTheRightWayUp(t *testing.T) {
	t.Parallel()
	// The corners as they are seen, from the upper left, row by row.
	seen := map[orientation][4]color.RGBA{
		1: {red, green, blue, yellow},
		2: {green, red, yellow, blue},
		3: {yellow, blue, green, red},
		4: {blue, yellow, red, green},
		5: {red, blue, green, yellow},
		6: {blue, red, yellow, green},
		7: {yellow, green, blue, red},
		8: {green, yellow, red, blue},
	}
	stored := jpegOf(t, scene(400, 200))
	for o, corners := range seen {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			t.Parallel()
			pixels := thumbnailOf(t, withSegments(stored, gpsEXIF(binary.LittleEndian, o)), 100)
			want := image.Pt(100, 50)
			if o >= 5 {
				want = image.Pt(50, 100)
			}
			require.Equal(t, want, pixels.Bounds().Size())
			for i, corner := range corners {
				x, y := want.X/4+i%2*want.X/2, want.Y/4+i/2*want.Y/2
				requireColour(t, corner, pixels.At(x, y))
			}
		})
	}
}

func TestThumbnailSize(t *testing.T) {
	t.Parallel()
	tests := []struct{ given, want image.Point }{
		{image.Pt(64, 64), image.Pt(64, 64)},
		{image.Pt(65, 65), image.Pt(64, 64)},
		{image.Pt(30, 20), image.Pt(30, 20)},
		{image.Pt(1, 1), image.Pt(1, 1)},
		{image.Pt(640, 480), image.Pt(64, 48)},
		{image.Pt(480, 640), image.Pt(48, 64)},
		{image.Pt(3000, 3), image.Pt(64, 1)},
		{image.Pt(2, 3000), image.Pt(1, 64)},
	}
	for _, test := range tests {
		t.Run(test.given.String(), func(t *testing.T) {
			t.Parallel()
			pixels := thumbnailOf(t, pngOf(t, image.NewGray(image.Rectangle{Max: test.given})), 64)
			require.Equal(t, test.want, pixels.Bounds().Size())
		})
	}
}

func TestThumbnailAveragesFineDetail(t *testing.T) {
	t.Parallel()
	stripes := image.NewGray(image.Rect(0, 0, 800, 800))
	for i := range stripes.Pix {
		stripes.Pix[i] = byte(i % 2 * 255)
	}
	requireColour(t, color.RGBA{R: 128, G: 128, B: 128}, thumbnailOf(t, pngOf(t, stripes), 100).At(50, 50))
}

func TestThumbnailTransparencyBecomesWhite(t *testing.T) {
	t.Parallel()
	white := color.RGBA{R: 255, G: 255, B: 255, A: 255}
	for _, size := range []int{20, 500} {
		pixels := thumbnailOf(t, pngOf(t, image.NewNRGBA(image.Rect(0, 0, size, size))), 64)
		requireColour(t, white, pixels.At(10, 10))
	}
}

func TestThumbnailOfEveryFormat(t *testing.T) {
	t.Parallel()
	for name, photo := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := thumbnailOf(t, photo, 16).Bounds().Size()
			require.LessOrEqual(t, max(size.X, size.Y), 16)
		})
	}
}

func TestThumbnailHasNoMetadata(t *testing.T) {
	t.Parallel()
	thumbnail, err := Thumbnail(withSegments(jpegOf(t, scene(80, 80)), gpsEXIF(binary.BigEndian, 6)), 16)
	require.NoError(t, err)
	clean, format, err := Clean(thumbnail)
	require.NoError(t, err)
	require.Equal(t, JPEG, format)
	require.Equal(t, clean, thumbnail)
}

package photos

import (
	"bytes"
	"image"
	"image/color"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// samples are photos of every kind with nothing to take out.
func samples(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"jpeg":             jpegOf(t, scene(33, 17)),
		"gray jpeg":        grayJPEG(markerSOF0, 40, 24, 1),
		"progressive jpeg": grayJPEG(markerSOF2, 40, 24, 2),
		"png":              pngOf(t, scene(33, 17)),
		"paletted png":     pngOf(t, image.NewPaletted(image.Rect(0, 0, 9, 5), color.Palette{red, blue})),
		"lossy webp":       webpPixelOf(t, "lossy"),
		"lossless webp":    webpPixelOf(t, "lossless"),
		"transparent webp": webpPixelOf(t, "transparent"),
		"solid webp":       webpOf(solidVP8L(300, 200)),
	}
}

// requireSamePicture decodes both files, as they are, and compares their pixels.
func requireSamePicture(t *testing.T, want, got []byte) {
	t.Helper()
	p, err := read(want)
	require.NoError(t, err)
	wantPixels, err := p.decode(bytes.NewReader(want))
	require.NoError(t, err)
	gotPixels, err := p.decode(bytes.NewReader(got))
	require.NoError(t, err)
	require.Equal(t, wantPixels, gotPixels)
}

func TestCleanPhotoIsUnchanged(t *testing.T) {
	t.Parallel()
	formats := map[string]Format{"jpeg": JPEG, "png": PNG, "webp": WebP}
	for name, photo := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean, format, err := Clean(photo)
			require.NoError(t, err)
			require.Equal(t, formats[name[strings.LastIndex(name, " ")+1:]], format)
			require.Equal(t, photo, clean)
		})
	}
}

func TestOtherFilesAreNoPhotos(t *testing.T) {
	t.Parallel()
	arithmetic := bytes.Replace(jpegOf(t, scene(8, 8)), []byte{0xff, markerSOF0}, []byte{0xff, 0xc9}, 1)
	frame := segment(markerSOF0, "\x08\x00\x08\x00\x08\x01\x01\x11\x00")
	withFrame := func(frame string) []byte {
		photo := jpegOf(t, scene(8, 8))
		return bytes.Replace(photo, segmentOf(photo, markerSOF0), segment(markerSOF0, frame), 1)
	}
	tests := map[string][]byte{
		"nothing":                  {},
		"text":                     []byte("a photo, honestly"),
		"svg":                      []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"html":                     []byte("<!doctype html><script>alert(1)</script>"),
		"pdf":                      []byte("%PDF-1.7\n"),
		"gif":                      []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		"bmp":                      []byte("BM\x46\x00\x00\x00"),
		"heic":                     []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"),
		"gif that holds a jpeg":    append([]byte("GIF89a"), jpegOf(t, scene(8, 8))...),
		"script that holds a jpeg": append([]byte("<script>/*"), jpegOf(t, scene(8, 8))...),
		"only a jpeg signature":    []byte(jpegSignature),
		"jpeg without pixels":      {0xff, 0xd8, 0xff, 0xd9},
		"jpeg without scans":       slices.Concat([]byte{0xff, 0xd8}, frame, []byte{0xff, 0xd9}),
		"jpeg of no height":        grayJPEG(markerSOF0, 8, 0, 1),
		"arithmetic jpeg":          arithmetic,
		"jpeg with two frames":     withSegments(jpegOf(t, scene(8, 8)), frame),
		"jpeg of 12 bits":          withFrame("\x0c\x00\x08\x00\x08\x01\x01\x11\x00"),
		"jpeg of two colours":      withFrame("\x08\x00\x08\x00\x08\x02\x01\x11\x00\x02\x11\x00"),
		"jpeg without samples":     withFrame("\x08\x00\x08\x00\x08\x01\x01\x01\x00"),
		"only a png signature":     []byte(pngSignature),
		"png without pixels":       append(pngHeader(8, 8, 8, 2, 0), pngChunk("IEND", "")...),
		"png of no width":          pngHeader(0, 8, 8, 2, 0),
		"png that begins late":     slices.Concat([]byte(pngSignature), pngChunk("tEXt", secret), pngOf(t, scene(8, 8))[8:]),
		"only a webp header":       webpOf(),
		"sound in a riff file":     []byte("RIFF\x04\x00\x00\x00WAVE"),
		"webp of another codec":    webpOf(webpChunk{"VP8 ", "a video of ten bytes"}),
		"webp of a later version":  webpOf(webpChunk{"VP8L", "\x2e\x00\x00\x00\x00"}),
		"webp of no width":         webpOf(webpChunk{"VP8 ", "\x30\x01\x00" + lossyStart + "\x00\x00\x01\x00"}),
		"frames without a header":  webpOf(webpChunk{"ANMF", ""}),
		"animated webp":            webpPixelOf(t, "animated"),
		"webp of another canvas":   webpOf(vp8x(0, 2, 2), lossyChunk(t)),
		"webp with two headers":    webpOf(vp8x(0, 1, 1), vp8x(0, 1, 1), lossyChunk(t)),
		"webp without its alpha":   webpOf(vp8x(webpAlpha, 1, 1), lossyChunk(t)),
		"webp with a stray alpha":  webpOf(webpChunk{"ALPH", "\x00\xff"}, lossyChunk(t)),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean, format, err := Clean(content)
			require.ErrorIs(t, err, errNotPhoto)
			require.Empty(t, clean)
			require.Zero(t, format)
			_, err = Thumbnail(content, 64)
			require.ErrorIs(t, err, errNotPhoto)
		})
	}
}

func TestPhotoCutShortAnywhereIsRefused(t *testing.T) {
	t.Parallel()
	for name, photo := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for length := range len(photo) {
				_, _, err := Clean(photo[:length])
				require.ErrorIs(t, err, errNotPhoto, "%d of %d bytes", length, len(photo))
			}
		})
	}
}

func TestDamagedPixelsAreRefused(t *testing.T) {
	t.Parallel()
	photo := pngOf(t, scene(64, 64))
	photo[len(photo)-20] ^= 0xff
	_, _, err := Clean(photo)
	require.ErrorIs(t, err, errNotPhoto)
}

func TestBytesBehindThePictureAreDropped(t *testing.T) {
	t.Parallel()
	for name, photo := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, tail := range []string{"PK\x03\x04" + secret, "<script>alert(1)</script>", string(photo), "\x00"} {
				clean, _, err := Clean(append(slices.Clone(photo), tail...))
				require.NoError(t, err)
				require.Equal(t, photo, clean)
			}
		})
	}
}

func TestFilesOverEightMebibytesAreRefused(t *testing.T) {
	t.Parallel()
	photo := jpegOf(t, scene(8, 8))
	_, _, err := Clean(append(photo, make([]byte, MaxBytes-len(photo))...))
	require.NoError(t, err)
	_, _, err = Clean(append(photo, make([]byte, MaxBytes-len(photo)+1)...))
	require.ErrorIs(t, err, errTooLarge)
	_, err = Thumbnail(make([]byte, MaxBytes+1), 64)
	require.ErrorIs(t, err, errTooLarge)
}

func TestCleanPhotoIsNeverOverEightMebibytes(t *testing.T) {
	t.Parallel()
	// An EXIF that ends early is four bytes shorter than the one that takes its place.
	short := exifPayload(6)
	photo := withSegments(jpegOf(t, scene(8, 8)), segment(markerAPP1, string(short[:len(short)-4])))
	var profile []byte
	for missing := MaxBytes - len(photo); missing > 0; missing = MaxBytes - len(photo) - len(profile) {
		rest := min(missing, 60_000) - len(segment(markerAPP2, iccHeader))
		profile = append(profile, segment(markerAPP2, iccHeader+string(make([]byte, rest)))...)
	}
	photo = withSegments(photo, profile)
	require.Len(t, photo, MaxBytes)
	_, _, err := Clean(photo)
	require.ErrorIs(t, err, errTooLarge)
}

// Not parallel: it measures what the process allocates.
func TestBombsAreRefusedBeforeTheyAreDecoded(t *testing.T) {
	pixels := pngOf(t, scene(8, 8))[endOfPNGHeader:]
	tests := map[string][]byte{
		"header of a png of 60000 by 60000":   pngHeader(60_000, 60_000, 8, 6, 0),
		"png of 60000 by 60000":               append(pngHeader(60_000, 60_000, 1, 0, 0), pixels...),
		"largest png there is":                pngHeader(1<<31-1, 1<<31-1, 16, 6, 1),
		"png with a side over 12000":          pngHeader(12_001, 1, 8, 6, 0),
		"png over 50 megapixels":              pngHeader(10_000, 5_001, 8, 6, 0),
		"jpeg of 65535 by 65535":              grayJPEG(markerSOF0, 65_535, 65_535, 0),
		"jpeg over 50 megapixels":             grayJPEG(markerSOF2, 5_001, 10_000, 1),
		"lossless webp of 16384 by 16384":     webpOf(solidVP8L(16_384, 16_384)),
		"webp canvas of 16777216 by 16777216": webpOf(vp8x(0, 1<<24, 1<<24), lossyChunk(t)),
		"jpeg with many scans":                grayJPEG(markerSOF2, 5_000, 5_000, 21),
		// Within 50 megapixels, but of kinds that take more memory than the budget.
		"16-bit interlaced png": append(pngHeader(10_000, 5_000, 16, 6, 1), pixels...),
		"lossless webp":         webpOf(solidVP8L(10_000, 5_000)),
	}
	for name, bomb := range tests {
		t.Run(name, func(t *testing.T) {
			allocated := allocatedBy(func() {
				_, _, err := Clean(bomb)
				require.ErrorIs(t, err, ErrTooManyPixels)
				_, err = Thumbnail(bomb, 64)
				require.ErrorIs(t, err, ErrTooManyPixels)
			})
			require.Less(t, allocated, uint64(4*len(bomb)+64<<10))
		})
	}
}

func allocatedBy(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

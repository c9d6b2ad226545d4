package photos

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// samples are pictures of every kind.
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

// encoded are the pixels of the photo and of the thumbnail that are made of a picture.
func encoded(t testing.TB, content []byte) (photo, thumbnail image.Image) {
	t.Helper()
	large, small, err := encodePhoto(t.Context(), content)
	require.NoError(t, err)
	photo, err = jpeg.Decode(bytes.NewReader(large))
	require.NoError(t, err)
	thumbnail, err = jpeg.Decode(bytes.NewReader(small))
	require.NoError(t, err)
	return photo, thumbnail
}

// encodedLogo are the pixels of the logo that is made of a picture.
func encodedLogo(t testing.TB, content []byte) image.Image {
	t.Helper()
	logo, err := encodeLogo(t.Context(), content)
	require.NoError(t, err)
	pixels, err := png.Decode(bytes.NewReader(logo))
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

func TestPicture_ofEveryKindKeepsItsSize(t *testing.T) {
	t.Parallel()
	for name, content := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := readHeader(content)
			require.NoError(t, err)
			photo, thumbnail := encoded(t, content)
			for _, pixels := range []image.Image{photo, thumbnail, encodedLogo(t, content)} {
				require.Equal(t, image.Pt(p.width, p.height), pixels.Bounds().Size())
			}
		})
	}
}

// Nothing but the pixels of an uploaded file is stored: no place, time, device, text, embedded
// preview, or bytes behind the picture.
func TestPicture_losesItsMetadata(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{
		"EXIF of a JPEG":        withSegments(jpegOf(t, scene(33, 17)), gpsEXIF(binary.LittleEndian, 6)),
		"XMP of a JPEG":         withSegments(jpegOf(t, scene(33, 17)), segment(markerAPP1, "http://ns.adobe.com/xap/1.0/\x00"+secret)),
		"a comment in a JPEG":   withSegments(jpegOf(t, scene(33, 17)), segment(0xfe, secret)),
		"the profile of a JPEG": withSegments(jpegOf(t, scene(33, 17)), segment(markerAPP2, "ICC_PROFILE\x00\x01\x01"+secret)),
		"EXIF of a PNG":         withChunks(pngOf(t, scene(33, 17)), pngChunk("eXIf", "MM\x00*"+secret)),
		"text in a PNG":         withChunks(pngOf(t, scene(33, 17)), pngChunk("tEXt", "Comment\x00"+secret)),
		"EXIF of a WebP":        webpOf(vp8x(webpEXIF, 300, 200), solidVP8L(300, 200), webpChunk{"EXIF", secret}),
		"behind a JPEG":         append(jpegOf(t, scene(33, 17)), secret...),
		"behind a PNG":          append(pngOf(t, scene(33, 17)), secret...),
		"behind a WebP":         append(webpOf(solidVP8L(300, 200)), secret...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, string(content), secret)
			photo, thumbnail, err := encodePhoto(t.Context(), content)
			require.NoError(t, err)
			logo, err := encodeLogo(t.Context(), content)
			require.NoError(t, err)
			for _, stored := range [][]byte{photo, thumbnail, logo} {
				require.NotContains(t, string(stored), secret)
				require.NotContains(t, string(stored), "Exif")
			}
			for _, file := range [][]byte{photo, thumbnail} {
				require.NotContains(t, string(file[:min(len(file), 1024)]), "\xff\xe1", "an application's segment")
			}
		})
	}
}

func TestPicture_isTurnedUpright(t *testing.T) {
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
		for _, order := range []interface {
			binary.ByteOrder
			binary.AppendByteOrder
		}{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(o, order), func(t *testing.T) {
				t.Parallel()
				content := withSegments(stored, gpsEXIF(order, o))
				photo, thumbnail := encoded(t, content)
				want := image.Pt(400, 200)
				if o >= 5 {
					want = image.Pt(200, 400)
				}
				for _, pixels := range []image.Image{photo, thumbnail, encodedLogo(t, content)} {
					require.Equal(t, want, pixels.Bounds().Size())
					for i, corner := range corners {
						requireColour(t, corner, pixels.At(want.X/4+i%2*want.X/2, want.Y/4+i/2*want.Y/2))
					}
				}
			})
		}
	}
}

// A photo is upright if its EXIF is damaged, is of an unknown orientation, or is not there.
func TestPicture_withDamagedEXIF(t *testing.T) {
	t.Parallel()
	whole := gpsEXIF(binary.BigEndian, 6)
	damaged := map[string][]byte{"orientation 0": gpsEXIF(binary.BigEndian, 0), "orientation 9": gpsEXIF(binary.BigEndian, 9)}
	for _, length := range []int{4, 10, 16, 20, 30} {
		damaged[fmt.Sprintf("%d bytes", length)] = segment(markerAPP1, string(whole[4:length]))
	}
	for name, exif := range damaged {
		photo, _ := encoded(t, withSegments(jpegOf(t, scene(40, 20)), exif))
		require.Equal(t, image.Pt(40, 20), photo.Bounds().Size(), name)
	}
}

func TestPicture_hasAtMost2048Pixels(t *testing.T) {
	t.Parallel()
	for given, want := range map[image.Point][3]image.Point{ // the photo, the thumbnail, the logo
		{2048, 2048}: {{2048, 2048}, {480, 480}, {640, 640}},
		{2049, 1024}: {{2048, 1023}, {480, 239}, {640, 319}},
		{1500, 6000}: {{512, 2048}, {120, 480}, {160, 640}},
		{9000, 3}:    {{2048, 1}, {480, 1}, {640, 1}},
		{500, 400}:   {{500, 400}, {480, 384}, {500, 400}},
		{1, 1}:       {{1, 1}, {1, 1}, {1, 1}},
	} {
		t.Run(given.String(), func(t *testing.T) {
			t.Parallel()
			content := pngOf(t, image.NewGray(image.Rectangle{Max: given}))
			photo, thumbnail := encoded(t, content)
			require.Equal(t, want, [3]image.Point{photo.Bounds().Size(), thumbnail.Bounds().Size(), encodedLogo(t, content).Bounds().Size()})
		})
	}
}

func TestPicture_averagesFineDetail(t *testing.T) {
	t.Parallel()
	stripes := image.NewGray(image.Rect(0, 0, 1920, 1920))
	for i := range stripes.Pix {
		stripes.Pix[i] = byte(i % 2 * 255)
	}
	_, thumbnail := encoded(t, pngOf(t, stripes))
	requireColour(t, color.RGBA{R: 128, G: 128, B: 128}, thumbnail.At(50, 50))
}

func TestPicture_transparency(t *testing.T) {
	t.Parallel()
	for _, side := range []int{20, 700} {
		clear := pngOf(t, image.NewNRGBA(image.Rect(0, 0, side, side)))
		photo, thumbnail := encoded(t, clear)
		requireColour(t, color.RGBA{R: 255, G: 255, B: 255}, photo.At(10, 10))
		requireColour(t, color.RGBA{R: 255, G: 255, B: 255}, thumbnail.At(10, 10))
		_, _, _, alpha := encodedLogo(t, clear).At(10, 10).RGBA()
		require.Zero(t, alpha, "a logo keeps it")
	}
}

func TestPicture_otherFilesAreRefused(t *testing.T) {
	t.Parallel()
	arithmetic := bytes.Replace(jpegOf(t, scene(8, 8)), []byte{0xff, markerSOF0}, []byte{0xff, 0xc9}, 1)
	damaged := pngOf(t, scene(64, 64))
	damaged[len(damaged)-20] ^= 0xff
	for name, content := range map[string][]byte{
		"nothing":                  {},
		"text":                     []byte("a photo, honestly"),
		"svg":                      []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"pdf":                      []byte("%PDF-1.7\n"),
		"gif":                      []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		"heic":                     []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"),
		"script that holds a jpeg": append([]byte("<script>/*"), jpegOf(t, scene(8, 8))...),
		"jpeg without pixels":      {0xff, 0xd8, 0xff, 0xd9},
		"jpeg of no height":        grayJPEG(markerSOF0, 8, 0, 1),
		"arithmetic jpeg":          arithmetic,
		"only a png signature":     []byte(pngSignature),
		"png without pixels":       append(pngHeader(8, 8, 8, 2, 0), pngChunk("IEND", "")...),
		"png of no width":          pngHeader(0, 8, 8, 2, 0),
		"png with damaged pixels":  damaged,
		"only a webp header":       webpOf(),
		"sound in a riff file":     []byte("RIFF\x04\x00\x00\x00WAVE"),
		"animated webp":            webpPixelOf(t, "animated"),
		"webp without its alpha":   webpOf(vp8x(webpAlpha, 1, 1), webpChunk{"VP8 ", "too short"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			photo, thumbnail, err := encodePhoto(t.Context(), content)
			require.ErrorIs(t, err, errNotPhoto)
			require.Empty(t, photo)
			require.Empty(t, thumbnail)
			_, err = encodeLogo(t.Context(), content)
			require.ErrorIs(t, err, errNotPhoto)
		})
	}
}

func TestPicture_cutShortIsRefused(t *testing.T) {
	t.Parallel()
	for name, content := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const padding = 2 // the last bytes of a WebP need not be of its picture
			for length := range len(content) - padding {
				_, _, err := encodePhoto(t.Context(), content[:length])
				require.ErrorIs(t, err, errNotPhoto, "%d of %d bytes", length, len(content))
			}
		})
	}
}

func TestPicture_over8MiBIsRefused(t *testing.T) {
	t.Parallel()
	content := jpegOf(t, scene(8, 8))
	_, _, err := encodePhoto(t.Context(), append(slices.Clone(content), make([]byte, MaxBytes-len(content))...))
	require.NoError(t, err)
	_, _, err = encodePhoto(t.Context(), append(content, make([]byte, MaxBytes+1-len(content))...))
	require.ErrorIs(t, err, errTooLarge)
}

// A few bytes that claim to be a huge picture are refused by their header: nothing is decoded.
func TestPicture_decompressionBombsAreRefused(t *testing.T) {
	t.Parallel()
	bomb := func(header []byte) []byte { return append(header, pngChunk("IDAT", "x")...) }
	jpegBomb := func(frameMarker byte, width, height uint16) []byte {
		sides := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, height), width)
		return bytes.Replace(grayJPEG(frameMarker, 8, 8, 1), []byte{8, 0, 8, 0, 8}, sides, 1)
	}
	for name, content := range map[string][]byte{
		"png":                      bomb(pngHeader(60_000, 60_000, 8, 6, 0)),
		"png of one line":          bomb(pngHeader(maxSide+1, 1, 8, 6, 0)),
		"png of 16 bits":           bomb(pngHeader(5_000, 5_000, 16, 6, 0)),
		"jpeg":                     jpegBomb(markerSOF0, 65_535, 65_535),
		"progressive jpeg":         jpegBomb(markerSOF2, 8_000, 6_900),
		"webp":                     webpOf(solidVP8L(16_384, 16_384)),
		"webp of a small canvas":   webpOf(vp8x(0, 1, 1), solidVP8L(16_384, 16_384)),
		"webp of a large canvas":   webpOf(vp8x(0, 1<<20, 1), solidVP8L(1, 1)),
		"webp with a costly alpha": webpOf(vp8x(webpAlpha, 12_000, 4_000), webpChunk{"ALPH", "\x01"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := encodePhoto(t.Context(), content)
			if name == "webp of a small canvas" {
				require.ErrorIs(t, err, ErrUnreadable)
				return
			}
			require.ErrorIs(t, err, ErrTooManyPixels)
		})
	}
}

// A camera's 50 megapixels are admitted, and kinds that take more memory for a pixel have fewer.
func TestPicture_pixelsOfEachKind(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, maxPixels*jpegPixelBytes(color.YCbCrModel, false), int64(decodeBudget))
	require.EqualValues(t, 1, jpegPixelBytes(color.GrayModel, false))
	require.EqualValues(t, 3+4*3, jpegPixelBytes(color.YCbCrModel, true))
	require.EqualValues(t, 4+4*4+4, jpegPixelBytes(color.CMYKModel, true))
	require.EqualValues(t, 16, pngPixelBytes(color.NRGBA64Model))
	for name, progressive := range map[string]bool{"jpeg": false, "gray jpeg": false, "progressive jpeg": true} {
		_, found := readJPEGSegments(samples(t)[name])
		require.Equal(t, progressive, found, name)
	}
	for _, unreadable := range []string{"\xff\xd8\xff\xe0\xff\xff", "\xff\xd8\xff\x01\x00\x02", "\xff\xd8\xff\xd8\xff\xd8\xff", "\xff\xd8\x00\xff\xc0\x00\x02"} {
		_, progressive := readJPEGSegments([]byte(unreadable))
		require.True(t, progressive, "%x", unreadable)
	}
}

// The pool bounds how many pictures are decoded at the same time. Whoever waits for it and leaves
// is not decoded. Not parallel: it takes the whole pool.
func TestPicture_waitsForThePool(t *testing.T) {
	content := jpegOf(t, scene(8, 8))
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, decoding.Acquire(t.Context(), decodeBudget))
		done, left := make(chan error, 1), make(chan error, 1)
		leaving, leave := context.WithCancel(t.Context())
		encode := func(ctx context.Context, outcome chan<- error) {
			_, _, err := encodePhoto(ctx, content)
			outcome <- err
		}
		go encode(leaving, left)
		go encode(context.Background(), done)
		synctest.Wait()
		require.Empty(t, done, "decoded without a place in the pool")
		leave()
		require.ErrorIs(t, <-left, context.Canceled)
		decoding.Release(decodeBudget)
		require.NoError(t, <-done)
	})
}

func FuzzPicture(f *testing.F) {
	for _, content := range samples(f) {
		f.Add(content)
	}
	f.Add(withSegments(jpegOf(f, scene(16, 8)), gpsEXIF(binary.LittleEndian, 6), segment(markerAPP2, "ICC_PROFILE\x00\x01\x01")))
	f.Add(withChunks(pngOf(f, scene(16, 8)), pngChunk("eXIf", secret), pngChunk("iCCP", "\x00")))
	f.Add(webpPixelOf(f, "animated"))
	f.Add(pngHeader(60_000, 60_000, 8, 6, 0))

	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := readHeader(content)
		if err == nil && p.width*p.height > 1<<20 {
			t.Skip("a large picture takes seconds and teaches nothing that a small one does not")
		}
		photo, thumbnail, err := encodePhoto(t.Context(), content)
		if err != nil {
			require.Empty(t, photo)
			return
		}
		for stored, side := range map[*[]byte]int{&photo: photoSide, &thumbnail: thumbnailSide} {
			config, err := jpeg.DecodeConfig(bytes.NewReader(*stored))
			require.NoError(t, err)
			require.LessOrEqual(t, max(config.Width, config.Height), side)
		}
	})
}

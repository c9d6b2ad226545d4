package photos

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"
)

// Not parallel: it measures what the process allocates.
func TestDecodedBytesBoundTheAllocation(t *testing.T) {
	area := image.Rect(0, 0, 1003, 777)
	photos := map[string][]byte{
		"jpeg":             jpegOf(t, scene(1003, 777)),
		"gray jpeg":        jpegOf(t, image.NewGray(area)),
		"progressive jpeg": grayJPEG(markerSOF2, 1003, 777, 3),
		"png":              pngOf(t, scene(1003, 777)),
		"transparent png":  pngOf(t, image.NewNRGBA(area)),
		"16-bit png":       pngOf(t, image.NewNRGBA64(area)),
		"gray png":         pngOf(t, image.NewGray(area)),
		"paletted png":     pngOf(t, image.NewPaletted(area, color.Palette{red, blue})),
		"lossless webp":    webpOf(solidVP8L(1003, 777)),
		"transparent webp": webpPixelOf(t, "transparent"),
	}
	const overhead = 256 << 10 // tables and buffers that do not grow with the picture
	for name, photo := range photos {
		t.Run(name, func(t *testing.T) {
			p, err := read(photo)
			require.NoError(t, err)
			allocated := allocatedBy(func() {
				_, err := p.decode(bytes.NewReader(p.content))
				require.NoError(t, err)
			})
			require.LessOrEqual(t, allocated, uint64(p.decodedBytes+overhead))
		})
	}
}

func TestPhotosOfFiftyMegapixelsAreWithinTheBudget(t *testing.T) {
	t.Parallel()
	components := func(factors ...int) (all []jpegComponent) {
		for _, n := range factors {
			all = append(all, jpegComponent{across: n, below: n})
		}
		return all
	}
	camera := jpegFrame{width: 8160, height: 6120, components: components(2, 1, 1)}
	unusual := jpegFrame{width: 8160, height: 6120, components: components(1, 1, 1, 1), progressive: true}
	require.Less(t, camera.decodedBytes(false), int64(decodeBudget)/3)
	require.Greater(t, unusual.decodedBytes(true), int64(decodeBudget))
	require.Less(t, pngDecodedBytes(maxPhotoPixels, 8, 6, false), int64(decodeBudget))
	lossy := webpReader{width: 8160, height: 6120, pixels: make([]byte, MaxBytes)}
	require.Less(t, lossy.decodedBytes(), int64(decodeBudget)/3)
}

// Pictures are decoded on a bounded number of processors. Not parallel: it takes all decoders.
func TestDecoding_waitsForADecoder(t *testing.T) {
	photo := jpegOf(t, scene(8, 8))
	synctest.Test(t, func(t *testing.T) {
		shared := decoders
		decoders = semaphore.NewWeighted(1)
		defer func() { decoders = shared }()
		require.NoError(t, decoders.Acquire(t.Context(), 1))
		done := make(chan error, 1)
		go func() {
			_, _, err := Clean(photo)
			done <- err
		}()
		synctest.Wait()
		require.Empty(t, done, "decoded without a decoder")
		decoders.Release(1)
		require.NoError(t, <-done)
	})
}

// Not parallel: it takes the whole budget.
func TestDecodingWaitsForTheMemoryBudget(t *testing.T) {
	photo := jpegOf(t, scene(8, 8))
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, decoding.Acquire(context.Background(), decodeBudget))
		done := make(chan error, 1)
		go func() {
			_, _, err := Clean(photo)
			done <- err
		}()
		synctest.Wait()
		require.Empty(t, done, "decoded without memory to spare")
		decoding.Release(decodeBudget)
		require.NoError(t, <-done)
	})
}

// Not parallel: it takes all decoders.
func TestDecoding_endsWithItsRequest(t *testing.T) {
	photo := jpegOf(t, scene(800, 600))
	p, err := read(photo)
	require.NoError(t, err)
	gone, leave := context.WithCancel(t.Context())
	leave()
	unused := func(image.Image) error { panic("decoded although the context has ended") }
	require.ErrorIs(t, p.decoded(gone, unused), context.Canceled)

	leaving, leave := context.WithCancel(t.Context())
	decode := p.decode
	p.decode = func(content io.Reader) (image.Image, error) {
		leave() // while it is decoded
		return decode(content)
	}
	require.ErrorIs(t, p.decoded(leaving, unused), context.Canceled)
}

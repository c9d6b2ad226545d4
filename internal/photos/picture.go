// Package photos checks and stores delivery-proof photos and logos. A picture is recognised by its
// content, decoded, and encoded anew: nothing of the uploaded file is stored.
package photos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"

	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"
)

// The limits of a picture.
const (
	// MaxBytes is the largest file admitted.
	MaxBytes = 8 << 20

	maxPixels = 50_000_000
	maxSide   = 12_000
)

// The reasons to reject a file.
var (
	// errNotPhoto is for every file that is not a picture that can be shown.
	errNotPhoto = errors.New("not a JPEG, PNG or WebP picture")
	// ErrUnreadable is an errNotPhoto for a file that begins as a JPEG, PNG or WebP does, and is
	// broken or of an unsupported kind.
	ErrUnreadable = fmt.Errorf("%w that can be read", errNotPhoto)
	// ErrTooManyPixels is for a picture whose sides, or whose decoded size, are over the limits.
	ErrTooManyPixels = errors.New("picture with too many pixels")
	// errTooLarge is for a file over MaxBytes.
	errTooLarge = errors.New("picture over 8 MiB")
)

// decodeBudget bounds the memory of the pixels that the whole process decodes at the same time. A
// 50-megapixel camera JPEG is within it; kinds that take more for a pixel have fewer.
const decodeBudget = 256 << 20

// decoders bounds the processors that decode, whatever the machine has: the rest are for the
// requests without a picture.
var decoders = int64(min(max(runtime.GOMAXPROCS(0)/2, 1), 4))

// decoding is the pool of the pictures that are decoded, in their order of arrival. Each takes at
// least a decoder's part of the budget.
var decoding = semaphore.NewWeighted(decodeBudget)

// picture is a file whose header was read.
type picture struct {
	width, height int
	orientation   orientation
	// decodedBytes is about the most that decoding it allocates.
	decodedBytes int64
	decode       func(io.Reader) (image.Image, error)
}

// readHeader recognises a picture by its first bytes. Its size is checked before anything is
// decoded, so that a decompression bomb costs no more than its header.
func readHeader(content []byte) (picture, error) {
	if len(content) > MaxBytes {
		return picture{}, errTooLarge
	}
	p := picture{orientation: upright}
	var readConfig func(io.Reader) (image.Config, error)
	switch {
	case bytes.HasPrefix(content, []byte("\xff\xd8\xff")):
		p.decode, readConfig = jpeg.Decode, jpeg.DecodeConfig
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		p.decode, readConfig = png.Decode, png.DecodeConfig
	case len(content) >= 12 && string(content[:4]) == "RIFF" && string(content[8:12]) == "WEBP":
		p.decode, readConfig = webp.Decode, webp.DecodeConfig
	default:
		return picture{}, errNotPhoto
	}
	config, err := readConfig(bytes.NewReader(content))
	if err != nil {
		return picture{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	p.width, p.height = config.Width, config.Height
	if p.width < 1 || p.height < 1 {
		return picture{}, fmt.Errorf("%w: a side of no pixels", ErrUnreadable)
	}
	pixelBytes := int64(12) // of a lossless WebP, and of the transparency of a lossy one
	switch content[0] {
	case '\xff':
		var progressive bool
		p.orientation, progressive = readJPEGSegments(content)
		pixelBytes = jpegPixelBytes(config.ColorModel, progressive)
	case '\x89':
		pixelBytes = pngPixelBytes(config.ColorModel)
	}
	p.decodedBytes = int64(p.width) * int64(p.height) * pixelBytes
	if p.width > maxSide || p.height > maxSide || p.width*p.height > maxPixels || p.decodedBytes > decodeBudget {
		return picture{}, fmt.Errorf("%w: %d x %d", ErrTooManyPixels, p.width, p.height)
	}
	return p, nil
}

// jpegPixelBytes counts a byte for each component, four more where the colours are converted, and
// four for each coefficient of a progressive JPEG, which the decoder keeps until the last scan.
func jpegPixelBytes(model color.Model, progressive bool) int64 {
	components, converted := int64(3), int64(4)
	switch model {
	case color.GrayModel:
		components, converted = 1, 0
	case color.YCbCrModel:
		converted = 0
	case color.CMYKModel:
		components = 4
	}
	if progressive {
		return 5*components + converted
	}
	return components + converted
}

// pngPixelBytes counts a pixel two times: the decoder puts an interlaced picture together of parts.
func pngPixelBytes(model color.Model) int64 {
	switch model {
	case color.Gray16Model, color.RGBA64Model, color.NRGBA64Model:
		return 2 * 8
	}
	return 2 * 4
}

// withPicture decodes a picture, shrinks it to a longest side, turns it upright and passes it to
// use, in the pool. The background is seen through what is transparent. The end of ctx ends the
// waiting for the pool.
func withPicture(ctx context.Context, content []byte, longest int, background color.Color, use func(*image.RGBA) error) error {
	p, err := readHeader(content)
	if err != nil {
		return err
	}
	share := max(p.decodedBytes, decodeBudget/decoders)
	if err := decoding.Acquire(ctx, share); err != nil {
		return fmt.Errorf("wait to decode a picture: %w", err)
	}
	defer decoding.Release(share)
	pixels, err := p.decode(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return use(p.orientation.apply(shrink(pixels, longest, background)))
}

package photos

import (
	"bytes"
	"context"
	"fmt"
	"image"

	"golang.org/x/sync/semaphore"
)

// decodeBudget bounds the memory of all pictures being decoded at the same time. It is enough for a
// 50-megapixel camera JPEG, 8-bit PNG or lossy WebP; kinds that take more per pixel (progressive or
// CMYK JPEG, 16-bit or interlaced PNG, lossless WebP) are accepted up to fewer pixels.
const decodeBudget = 256 << 20

// decoding is a semaphore for the whole process: photos of a usual size are decoded in parallel,
// very large ones wait.
var decoding = semaphore.NewWeighted(decodeBudget)

// decoded decodes the picture and passes it to use. Its share of the budget is held until use
// returns.
func (p picture) decoded(use func(image.Image) error) error {
	if p.decodedBytes > decodeBudget {
		return fmt.Errorf("%w: %d x %d of a costly kind", ErrTooManyPixels, p.width, p.height)
	}
	if err := decoding.Acquire(context.Background(), p.decodedBytes); err != nil {
		return fmt.Errorf("wait to decode a photo: %w", err)
	}
	defer decoding.Release(p.decodedBytes)
	pixels, err := p.decode(bytes.NewReader(p.content))
	if err != nil {
		return invalidPhoto(err.Error())
	}
	return use(pixels)
}

package photos

import (
	"bytes"
	"context"
	"fmt"
	"image"

	"golang.org/x/sync/semaphore"
)

// decodeBudget bounds the memory of all the pictures that are decoded at one time. It is enough for
// 50 megapixels of a camera's JPEG, 8-bit PNG or lossy WebP; kinds that take more for each pixel
// (progressive or CMYK JPEG, 16-bit or interlaced PNG, lossless WebP) are admitted up to fewer
// pixels.
const decodeBudget = 256 << 20

// decoding is shared by the whole process because its memory is: photos of a usual size decode side
// by side, giants wait for their turn.
var decoding = semaphore.NewWeighted(decodeBudget)

// decoded decodes the picture and hands it to use; its share of the budget is held until use
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
		return broken(err.Error())
	}
	return use(pixels)
}

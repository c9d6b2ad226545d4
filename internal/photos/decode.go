package photos

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// decodeBudget bounds the memory of all pictures being decoded at the same time. It is enough for a
// 50-megapixel camera JPEG, 8-bit PNG or lossy WebP; kinds that take more per pixel (progressive or
// CMYK JPEG, 16-bit or interlaced PNG, lossless WebP) are accepted up to fewer pixels.
const decodeBudget = 256 << 20

// maxDecoders bounds the processors that decode, whatever the machine has: the rest are for the
// requests without a photo.
const maxDecoders = 4

var (
	// decoding is a semaphore for the whole process: photos of a usual size are decoded in parallel,
	// very large ones wait.
	decoding = semaphore.NewWeighted(decodeBudget)
	// decoders bounds the pictures that are decoded at the same time, in their order of arrival.
	decoders = semaphore.NewWeighted(int64(min(max(runtime.GOMAXPROCS(0)/2, 1), maxDecoders)))
)

// decoded decodes a picture, once there is a decoder and the budget has room, and passes it to use.
// Its share of the budget is held until use returns. The end of ctx ends the waiting and the
// decoding.
func (p picture) decoded(ctx context.Context, use func(image.Image) error) error {
	if p.decodedBytes > decodeBudget {
		return fmt.Errorf("%w: %d x %d of a costly kind", ErrTooManyPixels, p.width, p.height)
	}
	if err := decoders.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait to decode a photo: %w", err)
	}
	defer decoders.Release(1)
	if err := decoding.Acquire(ctx, p.decodedBytes); err != nil {
		return fmt.Errorf("wait to decode a photo: %w", err)
	}
	defer decoding.Release(p.decodedBytes)
	pixels, err := p.decode(&contextReader{ctx: ctx, content: bytes.NewReader(p.content)})
	if ctx.Err() != nil {
		return fmt.Errorf("decode a photo: %w", ctx.Err())
	}
	if err != nil {
		return invalidPhoto(err.Error())
	}
	return use(pixels)
}

// contextReader ends with its context: decoders have no context, but read as they go.
type contextReader struct {
	ctx     context.Context
	content io.Reader
}

// readSize keeps a decoder from reading the whole file before its first pixel.
const readSize = 16 << 10

// Read reads up to readSize bytes.
func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.content.Read(p[:min(len(p), readSize)])
}

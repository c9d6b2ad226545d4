// Package photos checks and stores delivery-proof photos and logos. A photo is recognised by its
// content, rewritten without metadata, and stored with a thumbnail.
package photos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
)

// The limits of a photo; a 50-megapixel camera is within all of them.
const (
	// MaxBytes is the largest file admitted.
	MaxBytes = 8 << 20

	maxPhotoPixels = 50_000_000
	maxPhotoSide   = 12_000
)

// The reasons to reject a file.
var (
	// errNotPhoto is for every file that is not a photo that can be shown.
	errNotPhoto = errors.New("not a JPEG, PNG or WebP photo")
	// ErrUnreadable is an errNotPhoto for a file that begins as a JPEG, PNG or WebP does, and is
	// broken or of an unsupported kind.
	ErrUnreadable = fmt.Errorf("%w that can be read", errNotPhoto)
	// ErrTooManyPixels is for a picture whose sides, or whose decoded size, are over the limits.
	ErrTooManyPixels = errors.New("photo with too many pixels")
	// errTooLarge is for a file over MaxBytes.
	errTooLarge = errors.New("photo over 8 MiB")
)

// Format is a file format of photos.
type Format struct {
	Extension   string // without the dot
	ContentType string
}

// The formats admitted.
var (
	JPEG = Format{Extension: "jpg", ContentType: "image/jpeg"}
	PNG  = Format{Extension: "png", ContentType: "image/png"}
	WebP = Format{Extension: "webp", ContentType: "image/webp"}
)

// clean checks that content is a photo and returns the same picture, its pixels unchanged, with
// only what is needed to show it: no place, time, device, text, embedded preview or trailing bytes.
// A clean photo is returned as it is. thumbnail is a small upright JPEG of it, with no side over
// maxSide; a smaller photo keeps its size, and transparency becomes white.
//
// The picture is fully decoded, because only that proves that it can be shown as proof of a
// delivery. Memory is bounded before decoding starts.
func clean(ctx context.Context, content []byte, maxSide int) (photo, thumbnail []byte, format Format, err error) {
	p, err := read(content)
	if err != nil {
		return nil, nil, Format{}, err
	}
	// Rebuilt to the specification, a file can be a few bytes longer than it was.
	if len(p.content) > MaxBytes {
		return nil, nil, Format{}, errTooLarge
	}
	var small *image.RGBA
	if err := p.decoded(ctx, func(pixels image.Image) error {
		small = shrink(pixels, fit(p.width, p.height, maxSide), color.White)
		return nil
	}); err != nil {
		return nil, nil, Format{}, err
	}
	if thumbnail, err = p.orientation.encode(small); err != nil {
		return nil, nil, Format{}, err
	}
	return p.content, thumbnail, p.format, nil
}

// picture is a photo whose container was rebuilt and whose pixels are not decoded yet.
type picture struct {
	content       []byte
	format        Format
	width, height int
	orientation   orientation
	decodedBytes  int64 // the most that decoding allocates and keeps
	decode        func(io.Reader) (image.Image, error)
}

// read recognises a photo by its first bytes and rebuilds its container.
func read(content []byte) (picture, error) {
	switch {
	case len(content) > MaxBytes:
		return picture{}, errTooLarge
	case bytes.HasPrefix(content, []byte(jpegSignature)):
		return readJPEG(content)
	case bytes.HasPrefix(content, []byte(pngSignature)):
		return readPNG(content)
	case isWebP(content):
		return readWebP(content)
	default:
		return picture{}, errNotPhoto
	}
}

// checkSides is called as soon as the header is read, so that a decompression bomb costs no more
// than its header.
func checkSides(width, height int) error {
	switch {
	case width < 1 || height < 1:
		return invalidPhoto("a side of no pixels")
	case width > maxPhotoSide || height > maxPhotoSide || width*height > maxPhotoPixels:
		return fmt.Errorf("%w: %d x %d", ErrTooManyPixels, width, height)
	default:
		return nil
	}
}

// invalidPhoto returns an ErrUnreadable with a reason, for logs.
func invalidPhoto(reason string) error { return fmt.Errorf("%w: %s", ErrUnreadable, reason) }

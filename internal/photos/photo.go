// Package photos reads, checks and stores delivery-proof photos. A photo is recognised by its
// content, rewritten without metadata, and stored with a thumbnail beside it.
package photos

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
)

// The limits of a photo; a camera of 50 megapixels is within all of them.
const (
	// MaxBytes is the largest file admitted.
	MaxBytes = 8 << 20

	maxPhotoPixels = 50_000_000
	maxPhotoSide   = 12_000
)

// Why a file is refused.
var (
	// errNotPhoto is for other formats, broken files and kinds of JPEG, PNG or WebP that are no
	// photo.
	errNotPhoto = errors.New("not a JPEG, PNG or WebP photo")
	// ErrTooManyPixels is for a picture whose sides, or the memory it takes to decode, are over the
	// limits.
	ErrTooManyPixels = errors.New("photo with too many pixels")
	// errTooLarge is for a file over MaxBytes.
	errTooLarge = errors.New("photo over 8 MiB")
)

// Format is a kind of file that photos come in.
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

// Clean checks that content is a photo and returns the same picture, its pixels untouched, with
// nothing but what is needed to show it: no place, time, device, text, embedded preview or bytes
// behind the end. A clean photo comes back as it is.
//
// The picture is decoded in full, because only that tells a photo from a file that merely begins
// like one, and whoever looks at the proof of a delivery must be able to see it. Memory is bounded
// before decoding starts.
func Clean(content []byte) (clean []byte, format Format, err error) {
	p, err := read(content)
	if err != nil {
		return nil, Format{}, err
	}
	// Written out by the book, a file can be a few bytes longer than it was.
	if len(p.content) > MaxBytes {
		return nil, Format{}, errTooLarge
	}
	if err := p.decoded(func(image.Image) error { return nil }); err != nil {
		return nil, Format{}, err
	}
	return p.content, p.format, nil
}

// picture is a photo whose container was read and written anew, with its pixels still to be
// decoded.
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

// checkSides is called as soon as a header is read, so that a bomb costs no more than its header.
func checkSides(width, height int) error {
	switch {
	case width < 1 || height < 1:
		return broken("a side of no pixels")
	case width > maxPhotoSide || height > maxPhotoSide || width*height > maxPhotoPixels:
		return fmt.Errorf("%w: %d x %d", ErrTooManyPixels, width, height)
	default:
		return nil
	}
}

// broken is an errNotPhoto with its reason, for logs.
func broken(reason string) error { return fmt.Errorf("%w: %s", errNotPhoto, reason) }

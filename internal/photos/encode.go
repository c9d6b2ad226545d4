package photos

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

const (
	// photoSide is enough to read a door number on a photo of a whole door.
	photoSide    = 2048
	photoQuality = 85
	// thumbnailSide is enough for the panel on a high-density screen.
	thumbnailSide    = 480
	thumbnailQuality = 80
	// logoSide is enough for a printed label.
	logoSide = 640
)

// encodePhoto makes a photo and its thumbnail of an uploaded picture: upright JPEGs without
// metadata, in which transparency is white. A picture that is smaller keeps its size.
func encodePhoto(ctx context.Context, content []byte) (photo, thumbnail []byte, err error) {
	var large, small bytes.Buffer
	err = withPicture(ctx, content, photoSide, color.White, func(pixels *image.RGBA) error {
		if err := jpeg.Encode(&large, pixels, &jpeg.Options{Quality: photoQuality}); err != nil {
			return err
		}
		return jpeg.Encode(&small, shrink(pixels, thumbnailSide, color.White), &jpeg.Options{Quality: thumbnailQuality})
	})
	return large.Bytes(), small.Bytes(), err
}

// encodeLogo makes a PNG of an uploaded picture, with its transparency.
func encodeLogo(ctx context.Context, content []byte) ([]byte, error) {
	var logo bytes.Buffer
	err := withPicture(ctx, content, logoSide, color.Transparent, func(pixels *image.RGBA) error {
		return png.Encode(&logo, pixels)
	})
	return logo.Bytes(), err
}

// shrink returns a picture with no side over longest. It samples at two times the size and
// averages: nearly the same as averaging every pixel, at a cost that does not grow with the
// picture.
func shrink(pixels image.Image, longest int, background color.Color) *image.RGBA {
	given := pixels.Bounds().Size()
	size := given
	if side := max(given.X, given.Y); side > longest {
		size = image.Pt(max(1, given.X*longest/side), max(1, given.Y*longest/side))
	}
	if twice := size.Mul(2); twice.X < given.X && twice.Y < given.Y {
		pixels = scale(pixels, twice, background)
	}
	return scale(pixels, size, background)
}

func scale(pixels image.Image, size image.Point, background color.Color) *image.RGBA {
	canvas := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(canvas, canvas.Bounds(), pixels, pixels.Bounds(), draw.Over, nil)
	return canvas
}

package photos

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"

	"golang.org/x/image/draw"
)

const thumbnailQuality = 80

// encode makes the JPEG of a small picture, upright.
func (o orientation) encode(small *image.RGBA) ([]byte, error) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, o.apply(small), &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("encode a thumbnail: %w", err)
	}
	return out.Bytes(), nil
}

// fit is the size of a thumbnail with the proportions of the picture.
func fit(width, height, maxSide int) image.Point {
	longest := max(width, height)
	if longest <= maxSide {
		return image.Pt(width, height)
	}
	return image.Pt(max(1, width*maxSide/longest), max(1, height*maxSide/longest))
}

// shrink samples the picture at up to four times the size and halves the samples by averaging:
// nearly the same as averaging every pixel, at a cost that does not grow with the picture. The
// background is seen through what is transparent.
func shrink(pixels image.Image, size image.Point, background color.Color) *image.RGBA {
	bounds := pixels.Bounds()
	halvings := 0
	for halvings < 2 && size.X<<(halvings+1) <= bounds.Dx() && size.Y<<(halvings+1) <= bounds.Dy() {
		halvings++
	}
	small := scale(pixels, image.Pt(size.X<<halvings, size.Y<<halvings), background)
	for ; halvings > 0; halvings-- {
		small = scale(small, small.Bounds().Size().Div(2), background)
	}
	return small
}

func scale(pixels image.Image, size image.Point, background color.Color) *image.RGBA {
	canvas := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(canvas, canvas.Bounds(), pixels, pixels.Bounds(), draw.Over, nil)
	return canvas
}

// apply rotates and mirrors the picture to be upright.
func (o orientation) apply(pixels *image.RGBA) *image.RGBA {
	if o == upright {
		return pixels
	}
	size := pixels.Bounds().Size()
	if o >= 5 { // rotated by 90 degrees
		size.X, size.Y = size.Y, size.X
	}
	turned := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			turned.SetRGBA(x, y, o.sourcePixel(pixels, x, y))
		}
	}
	return turned
}

// sourcePixel is the stored pixel shown at x, y.
func (o orientation) sourcePixel(pixels *image.RGBA, x, y int) color.RGBA {
	right, bottom := pixels.Rect.Max.X-1, pixels.Rect.Max.Y-1
	switch o {
	case 2: // mirrored
		return pixels.RGBAAt(right-x, y)
	case 3: // upside down
		return pixels.RGBAAt(right-x, bottom-y)
	case 4: // upside down and mirrored
		return pixels.RGBAAt(x, bottom-y)
	case 5: // mirrored, to be turned left
		return pixels.RGBAAt(y, x)
	case 6: // to be turned right
		return pixels.RGBAAt(y, bottom-x)
	case 7: // mirrored, to be turned right
		return pixels.RGBAAt(right-y, bottom-x)
	case 8: // to be turned left
		return pixels.RGBAAt(right-y, x)
	default:
		return pixels.RGBAAt(x, y)
	}
}

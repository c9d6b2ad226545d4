// Package barcode draws Code 128 and QR codes as SVG paths, sharp at any size and on any printer.
package barcode

import (
	"fmt"
	"image"
	"strings"

	"github.com/boombuler/barcode/code128"
	"github.com/boombuler/barcode/qr"
)

// The quiet zones, in modules, that scanners need.
const (
	quietLinear = 10
	quietQR     = 4
)

// Drawing is a barcode with its quiet zone. Its unit is the module, the narrowest bar.
type Drawing struct {
	Width, Height int
	// Path is the black area.
	Path string
}

// Code128 draws a text as bars. They are one module high: the page stretches them.
func Code128(text string) (*Drawing, error) {
	bars, err := code128.Encode(text)
	if err != nil {
		return nil, fmt.Errorf("drawing Code 128: %w", err)
	}
	return draw(bars, quietLinear, 0), nil
}

// QR draws a text as a QR code that tolerates damage of about 15 %.
func QR(text string) (*Drawing, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("drawing QR: %w", err)
	}
	return draw(code, quietQR, quietQR), nil
}

// draw writes a rectangle for every run of black modules in a row.
func draw(modules image.Image, quietX, quietY int) *Drawing {
	bounds := modules.Bounds()
	black := func(x, y int) bool {
		r, _, _, _ := modules.At(bounds.Min.X+x, bounds.Min.Y+y).RGBA()
		return r == 0
	}
	var path strings.Builder
	for y := range bounds.Dy() {
		for x := 0; x < bounds.Dx(); x++ {
			start := x
			for x < bounds.Dx() && black(x, y) {
				x++
			}
			if x > start {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", start+quietX, y+quietY, x-start, x-start)
			}
		}
	}
	return &Drawing{Width: bounds.Dx() + 2*quietX, Height: bounds.Dy() + 2*quietY, Path: path.String()}
}

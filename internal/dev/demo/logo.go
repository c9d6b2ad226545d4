package demo

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"

	"despacho/internal/db"
	"despacho/internal/photos"
	"despacho/models"
)

// logoSize is the side of a logo, in pixels.
const logoSize = 256

// uploadLogo gives an operator a logo, as if it had uploaded one.
func (b blueprint) uploadLogo(ctx context.Context, database *db.DB, logos photos.Store) error {
	var picture bytes.Buffer
	if err := png.Encode(&picture, b.drawLogo()); err != nil {
		return err
	}
	if err := logos.Prepare(); err != nil {
		return err
	}
	name, err := logos.SaveLogo(ctx, picture.Bytes())
	if err != nil {
		return err
	}
	return database.Query(ctx).Model(&models.Operator{ID: b.operatorID()}).Update("logo_photo", name).Error
}

// drawLogo draws an arrow on a disc of the operator's colour.
func (b blueprint) drawLogo() image.Image {
	const middle, radius = logoSize / 2, logoSize/2 - 4
	logo := image.NewNRGBA(image.Rect(0, 0, logoSize, logoSize))
	for y := range logoSize {
		for x := range logoSize {
			right, down := x-middle, max(y-middle, middle-y)
			switch {
			case right*right+down*down > radius*radius: // transparent
			case right > -60 && right < 10 && down < 18, right >= 10 && right+down < 70:
				logo.SetNRGBA(x, y, color.NRGBA{R: 255, G: 255, B: 255, A: 255})
			default:
				logo.SetNRGBA(x, y, b.colour)
			}
		}
	}
	return logo
}

package orders

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"sync"

	"github.com/google/uuid"

	"despacho/internal/photos"
	"despacho/models"
)

// testPhotoName is the name of the photo of a test order's delivery. It follows from the order, so
// that the simulation knows it: the photo is stored when the simulation is started, by a process
// that has the place of photos, which a worker may not have.
func testPhotoName(orderID uuid.UUID) string { return photos.NameOf(orderID) }

// saveTestPhoto stores the photo of a test order that is delivered with one.
func (s *Service) saveTestPhoto(ctx context.Context, order *models.Order) error {
	if !scenarioOf(order).photo {
		return nil
	}
	photo, err := testPhoto()
	if err != nil {
		return err
	}
	_, err = s.options.Photos.SaveAs(ctx, order.ID, photo)
	return err
}

// testPhoto is a picture that nobody takes for a real one: grey with diagonal stripes.
var testPhoto = sync.OnceValues(func() ([]byte, error) {
	const width, height, stripe = 640, 480, 40
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			shade := color.RGBA{0xd8, 0xd8, 0xd8, 0xff}
			if (x+y)/stripe%2 == 0 {
				shade = color.RGBA{0xb0, 0xb0, 0xb0, 0xff}
			}
			picture.SetRGBA(x, y, shade)
		}
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, picture, nil)
	return out.Bytes(), err
})

package chaos

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"mime/multipart"

	"despacho/test/lab/cluster"
)

// attachPhoto makes the request a multipart form with a photo.
func (c *client) attachPhoto(request *cluster.Request, fields map[string]string) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			return err
		}
	}
	part, err := form.CreateFormFile("photo", "entrega.jpg")
	if err != nil {
		return err
	}
	if err := jpeg.Encode(part, randomImage(c.rng), nil); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	request.Body, request.ContentType = body.Bytes(), form.FormDataContentType()
	c.s.report.count("deliveries with a photo")
	return nil
}

// randomImage is an image of random pixels.
func randomImage(rng *rand.Rand) image.Image {
	picture := image.NewGray(image.Rect(0, 0, 96, 96))
	for x := range 96 {
		for y := range 96 {
			picture.SetGray(x, y, color.Gray{Y: uint8(rng.IntN(256))})
		}
	}
	return picture
}

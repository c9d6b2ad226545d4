package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"github.com/gin-gonic/gin"

	"despacho/internal/body"
	"despacho/internal/fault"
	"despacho/internal/photo"
	"despacho/orders"
	"despacho/workflows"
)

// maxMultipart leaves room for the other fields beside the photo.
const maxMultipart = photo.MaxBytes + 64<<10

// deliverOrder takes the delivery as JSON, or as a form when there is a photo.
func (s *Server) deliverOrder(c *gin.Context) error {
	id, err := pathID(c, orders.ErrOrderNotFound)
	if err != nil {
		return err
	}
	in, picture, err := readDelivery(c)
	if err != nil {
		return err
	}
	delivered := workflows.Delivered{ActualAmountCollected: in.Money("actual_amount_collected"), CapturedAt: in.Time("captured_at")}
	delivered.Lat, delivered.Lng = orders.ReadPoint(in, "lat", "lng")
	if err := in.Err(); err != nil {
		return err
	}
	if picture != nil {
		if delivered.Photo, err = s.files.save(picture); err != nil {
			return err
		}
		if delivered.CapturedAt == nil {
			now := s.clock.Now()
			delivered.CapturedAt = &now
		}
	}
	order, err := s.orders.Deliver(c.Request.Context(), caller(c), id, delivered)
	if err != nil && delivered.Photo != "" && !fault.Is(err, orders.ErrMovesDown.Code) {
		// Nobody will ever refer to it. After a time-out somebody may: the move can still come through.
		s.discardPhoto(c.Request.Context(), delivered.Photo)
	}
	return answerMove(c)(order, err)
}

func (s *Server) discardPhoto(ctx context.Context, name string) {
	if err := s.files.remove(name); err != nil {
		s.log.WarnContext(ctx, "photo of a refused delivery not removed", "error", err)
	}
}

var deliveryForm = map[string]body.FormField{"actual_amount_collected": body.FormNumber, "lat": body.FormNumber, "lng": body.FormNumber}

func readDelivery(c *gin.Context) (*body.Object, []byte, error) {
	mediaType, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil || mediaType != "multipart/form-data" {
		in, err := readOptionalBody(c)
		return in, nil, err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxMultipart)
	form, err := c.MultipartForm()
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, nil, errPhotoTooLarge
		}
		return nil, nil, fault.New(fault.Invalid, "invalid_form", "El formulario no se pudo leer.").Because(err)
	}
	defer form.RemoveAll()
	picture, err := readPhoto(form)
	if err != nil {
		return nil, nil, err
	}
	in, err := body.FromForm(form.Value, deliveryForm)
	return in, picture, err
}

var errPhotoTooLarge = fault.New(fault.TooLarge, "photo_too_large", "La foto supera el máximo de 8 MiB.")

func readPhoto(form *multipart.Form) ([]byte, error) {
	files := form.File["photo"]
	if len(files) == 0 {
		return nil, nil
	}
	if files[0].Size > photo.MaxBytes {
		return nil, errPhotoTooLarge
	}
	file, err := files[0].Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

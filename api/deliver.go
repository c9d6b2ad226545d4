package api

import (
	"github.com/gin-gonic/gin"

	"despacho/internal/jsonbody"
	"despacho/internal/photos"
	"despacho/orders"
)

// deliverOrder reads the delivery from JSON, or from a multipart form when there is a photo.
func (s *Server) deliverOrder(c *gin.Context) error {
	id, err := pathID(c, orders.ErrOrderNotFound)
	if err != nil {
		return err
	}
	in, picture, err := readDelivery(c)
	if err != nil {
		return err
	}
	return respondMove(c)(s.orders.Deliver(c.Request.Context(), caller(c), id, in, picture))
}

func readDelivery(c *gin.Context) (*jsonbody.Object, []byte, error) {
	if photos.IsForm(c.Request) {
		return photos.ReadForm(c.Request)
	}
	in, err := readOptionalBody(c)
	return in, nil, err
}

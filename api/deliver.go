package api

import (
	"context"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/internal/photos"
)

func (s *Server) deliverOrder(c *gin.Context) error {
	return withDelivery(c, s.orders.Deliver)
}

// withDelivery reads a delivery from JSON, or from a multipart form when there is a photo, and
// responds with the order once it is recorded.
func withDelivery(
	c *gin.Context, record func(context.Context, orders.Caller, uuid.UUID, *jsonbody.Object, []byte) (*orders.View, error),
) error {
	id, err := pathID(c, orders.ErrOrderNotFound)
	if err != nil {
		return err
	}
	in, picture, err := readDelivery(c)
	if err != nil {
		return err
	}
	return respondMove(c)(record(c.Request.Context(), caller(c), id, in, picture))
}

func readDelivery(c *gin.Context) (*jsonbody.Object, []byte, error) {
	if photos.IsForm(c.Request) {
		return photos.ReadForm(c.Request)
	}
	in, err := readOptionalBody(c)
	return in, nil, err
}

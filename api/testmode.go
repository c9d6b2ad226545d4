package api

import (
	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/orders"
)

var errTestKeyRequired = apperror.New(apperror.Forbidden, "test_key_required",
	"Solo una clave de prueba (dsp_test_) puede adelantar un pedido, y solo uno de prueba.")

// advanceTestOrder makes the next step of a test order at once.
func (s *Server) advanceTestOrder(c *gin.Context) error {
	if !caller(c).Test {
		return errTestKeyRequired
	}
	id, err := pathID(c, orders.ErrOrderNotFound)
	if err != nil {
		return err
	}
	order, err := s.orders.Advance(c.Request.Context(), caller(c), id)
	if err != nil {
		return err
	}
	return ok(c, order)
}

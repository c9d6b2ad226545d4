package api

import (
	"github.com/gin-gonic/gin"

	"despacho/internal/orders"
	"despacho/internal/phone"
)

// eraseOrder erases the recipient's data of an ended order.
func (s *Server) eraseOrder(c *gin.Context) error {
	id, err := pathID(c, orders.ErrOrderNotFound)
	if err != nil {
		return err
	}
	return respondMove(c)(s.orders.Erase(c.Request.Context(), caller(c).Operator, id))
}

// eraseByPhone erases the recipient's data of every ended order to a phone.
func (s *Server) eraseByPhone(c *gin.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	operator := caller(c).Operator
	number := phone.Read(in, "phone", operator.CountryCode)
	if err := in.Err(); err != nil {
		return err
	}
	outcome, err := s.orders.EraseByPhone(c.Request.Context(), operator, number)
	if err != nil {
		return err
	}
	return ok(c, outcome)
}

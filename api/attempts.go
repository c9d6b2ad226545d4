package api

import (
	"github.com/gin-gonic/gin"

	"despacho/internal/orders"
	"despacho/models"
)

// failOrder records a failed attempt, with a photo or without.
func (s *Server) failOrder(c *gin.Context) error {
	return withDelivery(c, s.orders.Fail)
}

// decideOrder decides what comes next after a failed attempt.
func (s *Server) decideOrder(c *gin.Context) error {
	id, in, err := idAndBody(c, orders.ErrOrderNotFound, readBody)
	if err != nil {
		return err
	}
	return respondMove(c)(s.orders.Decide(c.Request.Context(), caller(c), id, in))
}

// handBackOrder records that a package was given back to its store.
func (s *Server) handBackOrder(c *gin.Context, order *models.OrderView) error {
	in, err := readOptionalBody(c)
	if err != nil {
		return err
	}
	note := in.Lines("note", models.MaxCancelNote)
	if err := in.Err(); err != nil {
		return err
	}
	var written string
	if note != nil {
		written = *note
	}
	return respondMove(c)(s.orders.HandBack(c.Request.Context(), caller(c), order, written))
}

// undoOrder takes the latest move of an order back.
func (s *Server) undoOrder(c *gin.Context, order *models.OrderView) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	return respondMove(c)(s.orders.Undo(c.Request.Context(), caller(c), order, in))
}

package api

import (
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/internal/orders"
	"despacho/models"
)

const maxIdempotencyKey = 255

// createOrder creates an order whose Location is below path. The panel's users and the stores'
// systems get the same response, and both may send an Idempotency-Key.
func (s *Server) createOrder(path string) handler {
	return func(c *gin.Context) error {
		key, err := idempotencyKey(c)
		if err != nil {
			return err
		}
		in, err := readBody(c)
		if err != nil {
			return err
		}
		created, err := s.orders.Create(c.Request.Context(), caller(c), in, key)
		if err != nil {
			return err
		}
		if created.Replayed {
			c.Header("Idempotent-Replayed", "true")
		}
		c.Header("Location", path+created.Order.ID.String())
		return respond(c, http.StatusCreated, envelope{Data: created.JSON, Warning: created.Warning})
	}
}

// idempotencyKey reads the header. The bare and the quoted form are the same key.
func idempotencyKey(c *gin.Context) (string, error) {
	values := c.Request.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := strings.TrimSpace(values[0])
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	invalid := func(message string) error {
		f := apperror.New(apperror.Invalid, "invalid_idempotency_key", message)
		f.Fields = []apperror.Field{{Field: "Idempotency-Key", Message: message}}
		return f
	}
	switch {
	case len(values) > 1:
		return "", invalid("La cabecera Idempotency-Key llegó más de una vez.")
	case key == "":
		return "", invalid("La cabecera Idempotency-Key está vacía.")
	case !utf8.ValidString(key):
		return "", invalid("La cabecera Idempotency-Key no es UTF-8 válido.")
	case utf8.RuneCountInString(key) > maxIdempotencyKey:
		return "", invalid("La cabecera Idempotency-Key admite como máximo 255 caracteres.")
	}
	return key, nil
}

func (s *Server) readOrder(c *gin.Context, order *models.OrderView) error {
	return ok(c, s.orders.View(caller(c), order))
}

func (s *Server) listOrders(c *gin.Context) error {
	query, err := listQuery(c)
	if err != nil {
		return err
	}
	return s.respondOrders(c, query)
}

func (s *Server) respondOrders(c *gin.Context, query orders.Query) error {
	page, err := s.orders.List(c.Request.Context(), caller(c), query)
	if err != nil {
		return err
	}
	return ok(c, page)
}

func (s *Server) cancelOrder(c *gin.Context, order *models.OrderView) error {
	cancelled, err := s.cancel(c, order, func(in *jsonbody.Object) (orders.Cancellation, error) {
		why, err := orders.ReadCancellation(in)
		why.OnlyRegistered = true
		return why, err
	})
	// The contract says 400 for an order that can no longer be cancelled, also when a concurrent
	// move was first.
	if errors.Is(err, orders.ErrMoveRefused) {
		late := apperror.From(err).Copy()
		late.Kind = apperror.Invalid
		return late
	}
	if err != nil {
		return err
	}
	return ok(c, cancelled)
}

// cancel is shared with the panel, where the operator may also cancel an order that it has
// received.
func (s *Server) cancel(
	c *gin.Context, order *models.OrderView, read func(*jsonbody.Object) (orders.Cancellation, error),
) (*orders.View, error) {
	in, err := readOptionalBody(c)
	if err != nil {
		return nil, err
	}
	why, err := read(in)
	if err != nil {
		return nil, err
	}
	return s.orders.Cancel(c.Request.Context(), caller(c), order, why)
}

// correctOrder is for stores' systems and for the panel's users.
func (s *Server) correctOrder(c *gin.Context) error {
	id, in, err := idAndBody(c, orders.ErrOrderNotFound, readBody)
	if err != nil {
		return err
	}
	read := func() (*orders.View, error) { return s.orders.Get(c.Request.Context(), caller(c), id) }
	if err := refuseFixed(c, in, fixedInOrder, read); err != nil {
		return err
	}
	return respondCorrection(c)(s.orders.Correct(c.Request.Context(), caller(c), id, in, orders.CorrectionPrecondition{}))
}

// respondCorrection responds with the corrected order, and says what its shipping cost was if that
// has changed.
func respondCorrection(c *gin.Context) func(*orders.Corrected, error) error {
	return func(corrected *orders.Corrected, err error) error {
		if err != nil {
			return err
		}
		response := envelope{Data: corrected.Order, Warning: corrected.Warning}
		if corrected.CostChanged() {
			response.Message = "La tarifa cambió de " + corrected.CostBefore.String() + " a " +
				corrected.Order.ShippingCost.String() + "."
		}
		return respond(c, http.StatusOK, response)
	}
}

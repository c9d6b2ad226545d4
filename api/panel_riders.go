package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/riders"
	"despacho/models"
)

type riderView struct {
	identified
	Name      string    `json:"name"`
	Phone     string    `json:"phone"`
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"created_at"`
	// Device is the phone that works for the rider; null if there is none.
	Device *riderDeviceView `json:"device"`
	// LinkExpiresAt is until when a link for another phone can be used; null if none waits.
	LinkExpiresAt *time.Time `json:"link_expires_at"`
}

type riderDeviceView struct {
	ActivatedAt time.Time `json:"activated_at"`
	LastSeenAt  time.Time `json:"last_seen_at"`
}

func viewOfRider(r *models.Rider, access riders.Access) riderView {
	view := riderView{identified: identified{r.ID}, Name: r.Name, Phone: r.Phone, Active: r.Active, CreatedAt: r.CreatedAt.UTC()}
	if phone := access.Phone; phone != nil {
		view.Device = &riderDeviceView{ActivatedAt: phone.ActivatedAt.UTC(), LastSeenAt: phone.LastSeenAt.UTC()}
	}
	if access.Link != nil {
		expires := access.Link.LinkExpiresAt.UTC()
		view.LinkExpiresAt = &expires
	}
	return view
}

// viewRiders reads the phones of all riders at once.
func (s *Server) viewRiders(c *gin.Context, rows ...models.Rider) ([]riderView, error) {
	access, err := s.riders.List(c.Request.Context(), caller(c).Operator)
	return views(rows, func(r *models.Rider) riderView { return viewOfRider(r, access[r.ID]) }), err
}

// linkRider gives the operator's people a link for a rider's phone.
func (s *Server) linkRider(c *gin.Context) error {
	id, err := pathID(c, riders.ErrRiderNotFound)
	if err != nil {
		return err
	}
	link, err := s.riders.Link(c.Request.Context(), caller(c).Operator, id)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond(c, http.StatusCreated, envelope{
		Data:    gin.H{"url": link.URL(s.config.BaseURL), "expires_at": link.ExpiresAt.UTC()},
		Message: "Entregue el enlace al motorizado: sirve una vez y no se volverá a mostrar.",
	})
}

// revokeRiderDevice ends the access of a rider's phone and of the link that was not used.
func (s *Server) revokeRiderDevice(c *gin.Context) error {
	return respondDelete(c, "El celular del motorizado ya no tiene acceso.", riders.ErrRiderNotFound, s.riders.Revoke)
}

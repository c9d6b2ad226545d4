package api

import (
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/operators"
	"despacho/models"
)

type riderView struct {
	identified
	Name      string    `json:"name"`
	Phone     string    `json:"phone"`
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"created_at"`
}

func viewOfRider(r *models.Rider) riderView {
	return riderView{identified: identified{r.ID}, Name: r.Name, Phone: r.Phone, Active: r.Active, CreatedAt: r.CreatedAt.UTC()}
}

func (s *Server) listRiders(c *gin.Context) error {
	return respondList(c, viewOfRider, s.operators.Riders)
}

func (s *Server) createRider(c *gin.Context) error {
	return respondCreate(c, viewOfRider, s.operators.CreateRider)
}

func (s *Server) changeRider(c *gin.Context) error {
	return respondChange(c, viewOfRider, operators.ErrRiderNotFound, s.operators.ChangeRider)
}

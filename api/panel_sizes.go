package api

import (
	"time"

	"github.com/gin-gonic/gin"

	"despacho/internal/money"
	"despacho/internal/operators"
	"despacho/models"
)

type sizeView struct {
	identified
	Code      string      `json:"code"`
	Name      string      `json:"name"`
	Surcharge money.Cents `json:"surcharge"`
	Default   bool        `json:"default"`
	Active    bool        `json:"active"`
	CreatedAt time.Time   `json:"created_at"`
}

func viewOfSize(s *models.Size) sizeView {
	return sizeView{
		identified: identified{s.ID}, Code: s.Code, Name: s.Name, Surcharge: s.Surcharge, Default: s.IsDefault, Active: s.Active,
		CreatedAt: s.CreatedAt.UTC(),
	}
}

func (s *Server) listSizes(c *gin.Context) error {
	return respondList(c, viewOfSize, s.operators.Sizes)
}

func (s *Server) createSize(c *gin.Context) error {
	return respondCreate(c, viewOfSize, s.operators.CreateSize)
}

func (s *Server) changeSize(c *gin.Context) error {
	return respondChange(c, viewOfSize, operators.ErrSizeNotFound, s.operators.ChangeSize)
}

package api

import (
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/operators"
	"despacho/models"
)

type riskZoneView struct {
	identified
	Name       string     `json:"name"`
	LocationID *uuid.UUID `json:"location_id"`
	Words      []string   `json:"words"`
	Active     bool       `json:"active"`
	CreatedAt  time.Time  `json:"created_at"`
}

func viewOfRiskZone(z *models.RiskZone) riskZoneView {
	return riskZoneView{
		identified: identified{z.ID}, Name: z.Name, LocationID: z.LocationID, Words: z.WordList(), Active: z.Active,
		CreatedAt: z.CreatedAt.UTC(),
	}
}

func (s *Server) listRiskZones(c *gin.Context) error {
	return respondList(c, viewOfRiskZone, s.operators.RiskZones)
}

func (s *Server) createRiskZone(c *gin.Context) error {
	return respondCreate(c, viewOfRiskZone, s.operators.CreateRiskZone)
}

func (s *Server) changeRiskZone(c *gin.Context) error {
	return respondChange(c, viewOfRiskZone, operators.ErrRiskZoneNotFound, s.operators.ChangeRiskZone)
}

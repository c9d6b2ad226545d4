package api

import (
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/internal/operators"
	"despacho/models"
)

type coverageView struct {
	identified
	LocationID uuid.UUID    `json:"location_id"`
	Location   locationView `json:"location"`
	Price      *money.Cents `json:"price"`
	CreatedAt  time.Time    `json:"created_at"`
}

// viewCoverage lists the covered places by name, each after the places that contain it.
func (s *Server) viewCoverage(c *gin.Context, rows ...models.Coverage) ([]coverageView, error) {
	covered, err := s.catalog.CoveredPlaces(c.Request.Context(), rows...)
	return views(covered, func(covered *db.CoveredPlace) coverageView {
		return coverageView{
			identified: identified{covered.ID}, LocationID: covered.LocationID, Location: viewOf(covered.Places[0]),
			Price: covered.Price, CreatedAt: covered.CreatedAt.UTC(),
		}
	}), err
}

func (s *Server) deleteCoverage(c *gin.Context) error {
	return respondDelete(c, "La ubicación salió de la cobertura.", operators.ErrCoverageNotFound, s.operators.DeleteCoverage)
}

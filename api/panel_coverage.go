package api

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
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

func viewOfCoverage(covered *db.CoveredPlace) coverageView {
	return coverageView{
		identified: identified{covered.ID}, LocationID: covered.LocationID, Location: viewOf(covered.Places[0]),
		Price: covered.Price, CreatedAt: covered.CreatedAt.UTC(),
	}
}

// coveredPlace adds its place to the row that a use case returned.
func (s *Server) coveredPlace(ctx context.Context, row *models.Coverage, err error) (*db.CoveredPlace, error) {
	if err != nil {
		return nil, err
	}
	covered, err := s.catalog.CoveredPlaces(ctx, *row)
	if err != nil {
		return nil, err
	}
	return &covered[0], nil
}

// listCoverage lists the covered places by name, each after the places that contain it.
func (s *Server) listCoverage(c *gin.Context) error {
	return respondList(c, viewOfCoverage, func(ctx context.Context, operator *models.Operator) ([]db.CoveredPlace, error) {
		rows, err := s.operators.Coverage(ctx, operator)
		if err != nil {
			return nil, err
		}
		return s.catalog.CoveredPlaces(ctx, rows...)
	})
}

func (s *Server) createCoverage(c *gin.Context) error {
	return respondCreate(c, viewOfCoverage, func(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*db.CoveredPlace, error) {
		row, err := s.operators.CreateCoverage(ctx, operator, in)
		return s.coveredPlace(ctx, row, err)
	})
}

func (s *Server) changeCoverage(c *gin.Context) error {
	change := func(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, _ func(*db.CoveredPlace) error) (*db.CoveredPlace, error) {
		row, err := s.operators.ChangeCoverage(ctx, operator, id, in, nil)
		return s.coveredPlace(ctx, row, err)
	}
	return respondChange(c, viewOfCoverage, operators.ErrCoverageNotFound, change)
}

func (s *Server) deleteCoverage(c *gin.Context) error {
	return respondDelete(c, "La ubicación salió de la cobertura.", operators.ErrCoverageNotFound, s.operators.DeleteCoverage)
}

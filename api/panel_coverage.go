package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/catalog"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
	"despacho/operators"
)

type coverageView struct {
	identified
	LocationID uuid.UUID    `json:"location_id"`
	Location   locationView `json:"location"`
	Price      *money.Cents `json:"price"`
	CreatedAt  time.Time    `json:"created_at"`
	// path is what the list is sorted by.
	path []string
}

func (s *Server) viewOfCoverage(ctx context.Context, row *models.Coverage) (*coverageView, error) {
	places, known, err := s.catalog.Destination(ctx, row.LocationID)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fmt.Errorf("coverage %s is of a place that the catalog does not have: %s", row.ID, row.LocationID)
	}
	return &coverageView{
		identified: identified{row.ID}, LocationID: row.LocationID, Location: viewOf(places[0]), Price: row.Price,
		CreatedAt: row.CreatedAt.UTC(), path: catalog.PathNames(places),
	}, nil
}

// dereference is the view function of use cases that return a view already.
func dereference(v *coverageView) coverageView { return *v }

// listCoverage lists the covered places by name, each after the places that contain it.
func (s *Server) listCoverage(c *gin.Context) error {
	return respondList(c, dereference, func(ctx context.Context, operator *models.Operator) ([]coverageView, error) {
		rows, err := s.operators.Coverage(ctx, operator)
		if err != nil {
			return nil, err
		}
		list := make([]coverageView, len(rows))
		for i := range rows {
			view, err := s.viewOfCoverage(ctx, &rows[i])
			if err != nil {
				return nil, err
			}
			list[i] = *view
		}
		slices.SortStableFunc(list, func(a, b coverageView) int { return slices.Compare(a.path, b.path) })
		return list, nil
	})
}

func (s *Server) createCoverage(c *gin.Context) error {
	return respondCreate(c, dereference, func(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*coverageView, error) {
		row, err := s.operators.CreateCoverage(ctx, operator, in)
		if err != nil {
			return nil, err
		}
		return s.viewOfCoverage(ctx, row)
	})
}

func (s *Server) changeCoverage(c *gin.Context) error {
	change := func(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object) (*coverageView, error) {
		row, err := s.operators.ChangeCoverage(ctx, operator, id, in)
		if err != nil {
			return nil, err
		}
		return s.viewOfCoverage(ctx, row)
	}
	return respondChange(c, dereference, operators.ErrCoverageNotFound, change)
}

func (s *Server) deleteCoverage(c *gin.Context) error {
	return respondDelete(c, "La ubicación salió de la cobertura.", operators.ErrCoverageNotFound, s.operators.DeleteCoverage)
}

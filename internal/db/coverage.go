package db

import (
	"context"
	"fmt"
	"slices"

	"despacho/internal/catalog"
	"despacho/models"
)

// CoveredPlace is a coverage row with its location and those that contain it, nearest first.
type CoveredPlace struct {
	models.Coverage
	Places []catalog.Location
	path   []string
}

// CoveredPlaces adds the locations to coverage rows and sorts them by name, each after those that
// contain it.
func (c *CatalogCache) CoveredPlaces(ctx context.Context, rows ...models.Coverage) ([]CoveredPlace, error) {
	covered := make([]CoveredPlace, len(rows))
	for i, row := range rows {
		places, known, err := c.Destination(ctx, row.LocationID)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, fmt.Errorf("coverage %s is of a place that the catalog does not have: %s", row.ID, row.LocationID)
		}
		covered[i] = CoveredPlace{Coverage: row, Places: places, path: catalog.PathNames(places)}
	}
	slices.SortStableFunc(covered, func(a, b CoveredPlace) int { return slices.Compare(a.path, b.path) })
	return covered, nil
}

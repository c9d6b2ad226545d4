package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

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

// coverageBatch is the number of rows in one statement: SQLite slows down with longer statements.
const coverageBatch = 500

// SaveCoverage inserts new rows and updates the prices of existing ones.
func (d *DB) SaveCoverage(ctx context.Context, rows []models.Coverage) error {
	if len(rows) == 0 {
		return nil
	}
	return d.with(ctx).Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"price_cents"}),
	}).CreateInBatches(rows, coverageBatch).Error
}

// DeleteCoverage deletes a coverage row of an operator.
func (d *DB) DeleteCoverage(ctx context.Context, operatorID, id uuid.UUID) error {
	return requireOneRow(d.with(ctx).Where("id = ? AND operator_id = ?", id, operatorID).Delete(&models.Coverage{}))
}

// DeleteCoverages deletes several coverage rows of an operator.
func (d *DB) DeleteCoverages(ctx context.Context, operatorID uuid.UUID, rows []models.Coverage) error {
	if len(rows) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return d.with(ctx).Where("operator_id = ? AND id IN ?", operatorID, ids).Delete(&models.Coverage{}).Error
}

// CountLocations counts how many of the ids, which must be distinct, are in the catalog.
func (d *DB) CountLocations(ctx context.Context, ids []uuid.UUID) (int64, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	var count int64
	err := d.with(ctx).Model(&models.Location{}).Where("id IN ?", ids).Count(&count).Error
	return count, err
}

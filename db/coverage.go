package db

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"despacho/models"
)

// coverageBatch is how many rows go into one statement. Few statements are quick, but SQLite takes
// ever longer over longer ones.
const coverageBatch = 500

// SaveCoverage stores new rows and the prices of those that are there.
func (d *DB) SaveCoverage(ctx context.Context, rows []models.Coverage) error {
	if len(rows) == 0 {
		return nil
	}
	return d.with(ctx).Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"price_cents"}),
	}).CreateInBatches(rows, coverageBatch).Error
}

// DeleteCoverage stops an operator from covering a place.
func (d *DB) DeleteCoverage(ctx context.Context, operatorID, id uuid.UUID) error {
	return oneRow(d.with(ctx).Where("id = ? AND operator_id = ?", id, operatorID).Delete(&models.Coverage{}))
}

// DeleteCoverages stops an operator from covering several places.
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

// CountLocations counts those of the ids, each different, that the catalog has.
func (d *DB) CountLocations(ctx context.Context, ids []uuid.UUID) (int64, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	var count int64
	err := d.with(ctx).Model(&models.Location{}).Where("id IN ?", ids).Count(&count).Error
	return count, err
}

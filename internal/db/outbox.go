package db

import (
	"context"
	"slices"

	"gorm.io/gorm/clause"

	"despacho/models"
)

// maxBatchRows is the number of rows that one statement inserts or reads: SQLite takes 32,766
// parameters in a statement, PostgreSQL twice as many, and a delivery has fifteen.
const maxBatchRows = 500

// InsertDeliveries inserts the outbox rows of an event; existing rows are kept.
func (d *DB) InsertDeliveries(ctx context.Context, deliveries []models.WebhookDelivery) error {
	for some := range slices.Chunk(deliveries, maxBatchRows) {
		if err := d.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&some).Error; err != nil {
			return err
		}
	}
	return nil
}

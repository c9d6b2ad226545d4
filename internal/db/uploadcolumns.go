package db

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"despacho/models"
)

// UploadColumns reads what the columns of an owner's files are, by heading.
func (d *DB) UploadColumns(ctx context.Context, ownerID uuid.UUID) (map[string]string, error) {
	var rows []models.UploadColumns
	if err := d.with(ctx).Where("owner_id = ?", ownerID).Find(&rows).Error; err != nil || len(rows) == 0 {
		return nil, err
	}
	var headings map[string]string
	return headings, json.Unmarshal([]byte(rows[0].Headings), &headings)
}

// SaveUploadColumns replaces what the columns of an owner's files are.
func (d *DB) SaveUploadColumns(ctx context.Context, operatorID, ownerID uuid.UUID, headings map[string]string) error {
	packed, err := json.Marshal(headings)
	if err != nil {
		return err
	}
	return d.with(ctx).Clauses(clause.OnConflict{UpdateAll: true}).
		Create(&models.UploadColumns{OwnerID: ownerID, OperatorID: operatorID, Headings: string(packed)}).Error
}

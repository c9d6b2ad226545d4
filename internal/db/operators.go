package db

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// Operator finds one operator.
func (d *DB) Operator(ctx context.Context, id uuid.UUID) (*models.Operator, error) {
	var operator models.Operator
	err := d.with(ctx).Where("id = ?", id).Take(&operator).Error
	return &operator, err
}

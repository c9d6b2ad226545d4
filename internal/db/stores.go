package db

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"despacho/models"
)

// StoresOf lists an operator's active stores by name; with storeID only that one.
func (d *DB) StoresOf(ctx context.Context, operatorID uuid.UUID, storeID *uuid.UUID) ([]models.Store, error) {
	query := d.with(ctx).Where("operator_id = ? AND active", operatorID)
	if storeID != nil {
		query = query.Where("id = ?", *storeID)
	}
	var stores []models.Store
	err := query.Find(&stores).Error
	slices.SortFunc(stores, models.CompareStores)
	return stores, err
}

// Store finds one store of any owner.
func (d *DB) Store(ctx context.Context, id uuid.UUID) (*models.Store, error) {
	var store models.Store
	err := d.with(ctx).Where("id = ?", id).Take(&store).Error
	return &store, err
}

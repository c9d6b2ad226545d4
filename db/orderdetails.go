package db

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// OrderDetails reads those of the orders that the scope may see, in no particular order.
func (d *DB) OrderDetails(ctx context.Context, scope OrderScope, ids []uuid.UUID) ([]models.OrderDetail, error) {
	var details []models.OrderDetail
	err := scope.apply(d.orderViews(ctx)).
		Select(orderViewSelect+", stores.name AS store_name, COALESCE(branches.name, '') AS branch_name").
		Joins("LEFT JOIN stores ON stores.id = orders.store_id").
		Joins("LEFT JOIN branches ON branches.id = orders.branch_id").
		Where("orders.id IN ?", ids).Find(&details).Error
	return details, err
}

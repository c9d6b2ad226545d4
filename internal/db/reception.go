package db

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/models"
)

// OrdersReceivedSince reads the latest receptions since a time, newest first, and their total
// count.
func (d *DB) OrdersReceivedSince(ctx context.Context, scope OrderScope, since time.Time, limit int) ([]models.OrderView, int64, error) {
	var total int64
	if err := scope.apply(d.with(ctx).Table("orders")).Where("orders.received_at >= ?", since).Count(&total).Error; err != nil {
		return nil, 0, err
	}
	var views []models.OrderView
	err := scope.apply(d.orderViews(ctx)).Where("orders.received_at >= ?", since).
		Order("orders.received_at DESC, orders.id DESC").Limit(limit).Find(&views).Error
	return views, total, err
}

// LocationCount is the number of orders to a location.
type LocationCount struct {
	LocationID uuid.UUID
	Orders     int64
}

// CountOrdersByLocation counts the orders of a status by location.
func (d *DB) CountOrdersByLocation(ctx context.Context, scope OrderScope, status models.Status) ([]LocationCount, error) {
	var counts []LocationCount
	err := scope.apply(d.with(ctx).Table("orders")).Where("orders.status = ?", status).
		Select("orders.location_id, COUNT(*) AS orders").Group("orders.location_id").Scan(&counts).Error
	return counts, err
}

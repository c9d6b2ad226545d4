package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/money"
	"despacho/models"
)

// OrderScope is what a caller may see: all of an operator's orders, or those of one store, either
// the live ones or the test orders.
type OrderScope struct {
	OperatorID uuid.UUID
	StoreID    *uuid.UUID
	Test       bool
}

// owned limits a query to the rows of a table that are the operator's and of the scope's mode.
// Every read and change of orders, webhooks or deliveries on behalf of a caller goes through it.
func (s OrderScope) owned(query *gorm.DB, table string) *gorm.DB {
	return query.Where(table+".operator_id = ? AND "+table+".test = ?", s.OperatorID, s.Test)
}

func (s OrderScope) apply(query *gorm.DB) *gorm.DB {
	query = s.owned(query, "orders")
	if s.StoreID != nil {
		query = query.Where("orders.store_id = ?", *s.StoreID)
	}
	return query
}

// visible is the order if apply would select it, else nil. It takes nil for an order that was not
// found.
func (s OrderScope) visible(order *models.OrderView) *models.OrderView {
	if order == nil || order.OperatorID != s.OperatorID || order.Test != s.Test {
		return nil
	}
	if s.StoreID != nil && (order.StoreID == nil || *order.StoreID != *s.StoreID) {
		return nil
	}
	return order
}

// InsertOrder inserts an order with its first timeline entry, its first event and the deliveries of
// that.
func (d *DB) InsertOrder(ctx context.Context, order *models.Order, entry *models.TimelineEntry, event *models.FeedEvent, deliveries []models.WebhookDelivery) error {
	if err := d.with(ctx).Create(order).Error; err != nil {
		return err
	}
	if err := d.with(ctx).Create(entry).Error; err != nil {
		return err
	}
	if err := d.InsertFeedEvent(ctx, event); err != nil {
		return err
	}
	return d.InsertDeliveries(ctx, deliveries)
}

// PageOfOrders reads a page of a list with the given total.
func (d *DB) PageOfOrders(ctx context.Context, scope OrderScope, filter OrderFilter, total int64) ([]models.OrderView, error) {
	skip := int64(filter.Page-1) * int64(filter.Limit)
	views := []models.OrderView{}
	if skip >= total {
		return views, nil
	}
	err := filter.Sort.apply(filter.withStatus(scope.apply(d.orderViews(ctx)))).
		Offset(int(skip)).Limit(filter.Limit).Find(&views).Error
	return views, err
}

// OrdersAfter reads the orders of a list that follow a position, newest first. The zero position is
// the beginning.
func (d *DB) OrdersAfter(ctx context.Context, scope OrderScope, filter OrderFilter, after Position, limit int) ([]models.OrderView, error) {
	query := filter.withStatus(scope.apply(d.orderViews(ctx)))
	if !after.At.IsZero() {
		query = query.Where("(orders.created_at, orders.id) < (?, ?)", after.At, after.ID)
	}
	var views []models.OrderView
	err := query.Order("orders.created_at DESC, orders.id DESC").Limit(limit).Find(&views).Error
	return views, err
}

// CountOrders counts orders by status; the filter's status is ignored.
func (d *DB) CountOrders(ctx context.Context, scope OrderScope, filter OrderFilter) (map[models.Status]int64, error) {
	var rows []struct {
		Status models.Status
		Count  int64
	}
	err := filter.apply(scope.apply(d.with(ctx).Table("orders"))).Select("orders.status, COUNT(*) AS count").Group("orders.status").Scan(&rows).Error
	counts := map[models.Status]int64{}
	for _, row := range rows {
		counts[row.Status] = row.Count
	}
	return counts, err
}

// CollectedAmount is what was collected for the orders of a list, on all its pages.
func (d *DB) CollectedAmount(ctx context.Context, scope OrderScope, filter OrderFilter) (money.Cents, error) {
	var total money.Cents
	err := filter.withStatus(scope.apply(d.with(ctx).Table("orders"))).
		Select("CAST(COALESCE(SUM(orders.actual_amount_collected_cents), 0) AS BIGINT)").Scan(&total).Error
	return total, err
}

// LockOrder reads an order and locks its row until the transaction ends.
func (d *DB) LockOrder(ctx context.Context, id uuid.UUID) (*models.Order, error) {
	var order models.Order
	err := d.forUpdate(ctx).Where("id = ?", id).Take(&order).Error
	return &order, err
}

// SetLinkPoint writes the delivery point that a map link gave. If the order has a point by now, or
// another link, nothing is written, and set is false.
func (d *DB) SetLinkPoint(ctx context.Context, orderID uuid.UUID, link string, lat, lng float64, source string, now time.Time) (set bool, err error) {
	result := d.with(ctx).Model(&models.Order{}).Where("id = ? AND delivery_lat IS NULL AND delivery_maps_url = ?", orderID, link).Updates(map[string]any{
		"delivery_lat": lat, "delivery_lng": lng, "point_source": source, "updated_at": now,
	})
	return result.RowsAffected == 1, result.Error
}

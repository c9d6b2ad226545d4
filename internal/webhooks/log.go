package webhooks

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
)

// Filter filters the delivery log.
type Filter struct {
	WebhookID, OrderID *uuid.UUID
	Status             models.WebhookDeliveryStatus
	Event              models.Event
	Page, Limit        int
}

// webhooksIn queries the webhooks of the scope. An operator's webhook that is limited to a store is
// not the store's.
func webhooksIn(ctx context.Context, database *db.DB, scope db.WebhookScope) *gorm.DB {
	query := scope.Owned(database.Query(ctx).Model(&models.Webhook{}), "webhooks")
	if scope.StoreID != nil {
		query = query.Where("owner_store_id = ?", *scope.StoreID)
	}
	return query
}

// readLog reads a page of the delivery log, newest first, and the total count. A store sees the
// deliveries of its own webhooks and, of the operator's webhooks that are limited to it, those
// about its orders.
func readLog(
	ctx context.Context, database *db.DB, scope db.WebhookScope, filter Filter,
) ([]models.WebhookDelivery, int64, error) {
	matching := func() *gorm.DB {
		query := scope.Owned(database.Query(ctx).Model(&models.WebhookDelivery{}), "deliveries")
		if scope.StoreID != nil {
			query = query.Where(database.Query(ctx).
				Where("deliveries.webhook_id IN (SELECT id FROM webhooks WHERE owner_store_id = ?)", *scope.StoreID).
				Or("deliveries.order_id IS NOT NULL AND deliveries.webhook_id IN (SELECT id FROM webhooks WHERE store_id = ?)",
					*scope.StoreID))
		}
		if filter.WebhookID != nil {
			query = query.Where("deliveries.webhook_id = ?", *filter.WebhookID)
		}
		if filter.OrderID != nil {
			query = query.Where("deliveries.order_id = ?", *filter.OrderID)
		}
		if filter.Status != "" {
			query = query.Where("deliveries.status = ?", filter.Status)
		}
		if filter.Event != "" {
			query = query.Where("deliveries.event = ?", filter.Event)
		}
		return query
	}
	var deliveries []models.WebhookDelivery
	err := matching().Order("deliveries.created_at DESC, deliveries.id DESC").
		Offset((filter.Page - 1) * filter.Limit).Limit(filter.Limit).Find(&deliveries).Error
	if err != nil {
		return nil, 0, err
	}
	total := int64(len(deliveries))
	if filter.Page == 1 && len(deliveries) < filter.Limit {
		return deliveries, total, nil // the first page holds all of them
	}
	err = matching().Count(&total).Error
	return deliveries, total, err
}

// findCall finds a delivery of one of the scope's webhooks.
func findCall(ctx context.Context, database *db.DB, scope db.WebhookScope, id uuid.UUID) (*models.WebhookDelivery, error) {
	var delivery models.WebhookDelivery
	err := database.Query(ctx).Where("id = ? AND webhook_id IN (?)", id,
		webhooksIn(ctx, database, scope).Select("id")).Take(&delivery).Error
	return &delivery, err
}

// guideCodesOf reads the guide codes of the orders that deliveries are about, in one statement.
func guideCodesOf(ctx context.Context, database *db.DB, deliveries []models.WebhookDelivery) (map[uuid.UUID]string, error) {
	byOrder := map[uuid.UUID]string{}
	var ids []uuid.UUID
	for _, delivery := range deliveries {
		if delivery.OrderID != nil {
			ids = append(ids, *delivery.OrderID)
		}
	}
	if len(ids) == 0 {
		return byOrder, nil
	}
	var orders []models.Order
	if err := database.Query(ctx).Select("id, guide_code").Where("id IN ?", ids).Find(&orders).Error; err != nil {
		return nil, err
	}
	for _, order := range orders {
		byOrder[order.ID] = order.GuideCode
	}
	return byOrder, nil
}

// webhooksOf reads the webhooks of deliveries that are the scope's own, including inactive ones.
func webhooksOf(
	ctx context.Context, database *db.DB, scope db.WebhookScope, deliveries []models.WebhookDelivery,
) (map[uuid.UUID]*models.Webhook, error) {
	byID := map[uuid.UUID]*models.Webhook{}
	ids := map[uuid.UUID]struct{}{}
	for _, delivery := range deliveries {
		ids[delivery.WebhookID] = struct{}{}
	}
	if len(ids) == 0 {
		return byID, nil
	}
	var hooks []models.Webhook
	if err := webhooksIn(ctx, database, scope).Where("id IN ?", slices.Collect(maps.Keys(ids))).Find(&hooks).Error; err != nil {
		return nil, err
	}
	for i := range hooks {
		byID[hooks[i].ID] = &hooks[i]
	}
	return byID, nil
}

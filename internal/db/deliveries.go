package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// DeliveryFilter filters the delivery log.
type DeliveryFilter struct {
	WebhookID, OrderID *uuid.UUID
	Status             models.WebhookDeliveryStatus
	Event              models.Event
	Page, Limit        int
}

// Deliveries reads a page of the delivery log, newest first, and the total count. A store sees the
// deliveries of its own webhooks and, of the operator's webhooks that are limited to it, those
// about its orders.
func (d *DB) Deliveries(ctx context.Context, scope WebhookScope, filter DeliveryFilter) ([]models.WebhookDelivery, int64, error) {
	matching := func() *gorm.DB {
		query := scope.owned(d.with(ctx).Model(&models.WebhookDelivery{}), "deliveries")
		if scope.StoreID != nil {
			query = query.Where(d.with(ctx).Where("deliveries.webhook_id IN (SELECT id FROM webhooks WHERE owner_store_id = ?)", *scope.StoreID).
				Or("deliveries.order_id IS NOT NULL AND deliveries.webhook_id IN (SELECT id FROM webhooks WHERE store_id = ?)", *scope.StoreID))
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

// DeliveryIn finds a delivery of one of the scope's webhooks.
func (d *DB) DeliveryIn(ctx context.Context, scope WebhookScope, id uuid.UUID) (*models.WebhookDelivery, error) {
	var delivery models.WebhookDelivery
	err := d.with(ctx).Where("id = ? AND webhook_id IN (?)", id, d.webhooksIn(ctx, scope).Select("id")).Take(&delivery).Error
	return &delivery, err
}

// AttemptsOf reads the attempts of deliveries, oldest first, in one statement.
func (d *DB) AttemptsOf(ctx context.Context, deliveries []models.WebhookDelivery) (map[uuid.UUID][]models.WebhookAttempt, error) {
	byDelivery := map[uuid.UUID][]models.WebhookAttempt{}
	if len(deliveries) == 0 {
		return byDelivery, nil
	}
	ids := make([]uuid.UUID, len(deliveries))
	for i, delivery := range deliveries {
		ids[i] = delivery.ID
	}
	var attempts []models.WebhookAttempt
	if err := d.with(ctx).Where("delivery_id IN ?", ids).Order("delivery_id, number").Find(&attempts).Error; err != nil {
		return nil, err
	}
	for _, attempt := range attempts {
		byDelivery[attempt.DeliveryID] = append(byDelivery[attempt.DeliveryID], attempt)
	}
	return byDelivery, nil
}

// GuideCodesOf reads the guide codes of the orders that deliveries are about, in one statement.
func (d *DB) GuideCodesOf(ctx context.Context, deliveries []models.WebhookDelivery) (map[uuid.UUID]string, error) {
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
	if err := d.with(ctx).Select("id, guide_code").Where("id IN ?", ids).Find(&orders).Error; err != nil {
		return nil, err
	}
	for _, order := range orders {
		byOrder[order.ID] = order.GuideCode
	}
	return byOrder, nil
}

// DeliveryDay is how many deliveries of one day have a status.
type DeliveryDay struct {
	// Day is the number of days since 1970-01-01 in the time zone.
	Day    int64
	Status models.WebhookDeliveryStatus
	Count  int64
}

// DeliveriesByDay counts a webhook's deliveries by day of the event and by status, tests aside.
func (d *DB) DeliveriesByDay(ctx context.Context, webhookID uuid.UUID, from, until time.Time, zone *time.Location) ([]DeliveryDay, error) {
	offset, arguments := offsetIn("created_at", zone, from, until)
	day := fmt.Sprintf("(%s + %s) / 86400 AS day", d.seconds("created_at"), offset)
	var counts []DeliveryDay
	err := d.with(ctx).Table("deliveries").Select(day+", status, COUNT(*) AS count", arguments...).
		Where("webhook_id = ? AND created_at >= ? AND created_at < ? AND event <> ?", webhookID, from, until, models.EventTest).
		Group("day, status").Scan(&counts).Error
	return counts, err
}

// RequeueDeliveries queues the finished deliveries of a webhook in a time range again, tests aside.
// They have all their retries again.
func (d *DB) RequeueDeliveries(ctx context.Context, webhookID uuid.UUID, from, to, now time.Time) (int64, error) {
	result := d.finished(ctx, webhookID, from, to).
		UpdateColumns(map[string]any{
			"status": models.WebhookDeliveryPending, "queued": true, "next_attempt_at": now, "finished_at": nil,
			"attempts_before": gorm.Expr("(SELECT COUNT(*) FROM delivery_attempts WHERE delivery_id = deliveries.id)"),
		})
	return result.RowsAffected, result.Error
}

// CountFinished counts what RequeueDeliveries would queue.
func (d *DB) CountFinished(ctx context.Context, webhookID uuid.UUID, from, to time.Time) (count int64, err error) {
	err = d.finished(ctx, webhookID, from, to).Count(&count).Error
	return count, err
}

func (d *DB) finished(ctx context.Context, webhookID uuid.UUID, from, to time.Time) *gorm.DB {
	return d.with(ctx).Model(&models.WebhookDelivery{}).
		Where("webhook_id = ? AND status <> ? AND event <> ? AND created_at >= ? AND created_at <= ?", webhookID, models.WebhookDeliveryPending, models.EventTest, from, to)
}

// FailedDeliveries lists the failed deliveries of a webhook in a time range, oldest first.
func (d *DB) FailedDeliveries(ctx context.Context, webhookID uuid.UUID, from, to time.Time, limit int) ([]DeliveryTarget, error) {
	var targets []DeliveryTarget
	err := d.deliveryTargets(ctx).
		Where("deliveries.webhook_id = ? AND deliveries.status = ? AND deliveries.created_at >= ? AND deliveries.created_at <= ?",
			webhookID, models.WebhookDeliveryFailed, from, to).
		Order("deliveries.created_at, deliveries.id").Limit(limit).Scan(&targets).Error
	return targets, err
}

// WebhooksOf reads the webhooks of deliveries that are the scope's own, including inactive ones.
func (d *DB) WebhooksOf(ctx context.Context, scope WebhookScope, deliveries []models.WebhookDelivery) (map[uuid.UUID]*models.Webhook, error) {
	byID := map[uuid.UUID]*models.Webhook{}
	ids := map[uuid.UUID]struct{}{}
	for _, delivery := range deliveries {
		ids[delivery.WebhookID] = struct{}{}
	}
	if len(ids) == 0 {
		return byID, nil
	}
	var hooks []models.Webhook
	if err := d.webhooksIn(ctx, scope).Where("id IN ?", slices.Collect(maps.Keys(ids))).Find(&hooks).Error; err != nil {
		return nil, err
	}
	for i := range hooks {
		byID[hooks[i].ID] = &hooks[i]
	}
	return byID, nil
}

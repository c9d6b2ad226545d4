package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// OrdersByPhone reads the orders of a scope to a phone that are not erased yet, oldest first.
func (d *DB) OrdersByPhone(ctx context.Context, scope OrderScope, phone string) ([]models.Order, error) {
	var orders []models.Order
	err := scope.apply(d.with(ctx).Model(&models.Order{})).Where("orders.recipient_phone = ? AND orders.erased_at IS NULL", phone).
		Order("orders.created_at, orders.id").Find(&orders).Error
	return orders, err
}

// OrdersEndedBefore reads ended orders that have not changed since a time and are not erased,
// oldest first, after a position; with onlyTests only test orders.
func (d *DB) OrdersEndedBefore(ctx context.Context, before time.Time, onlyTests bool, after Position, limit int) ([]models.Order, error) {
	query := d.with(ctx).Where("status IN ? AND erased_at IS NULL AND updated_at < ?", models.EndedStatuses, before)
	if onlyTests {
		query = query.Where("test")
	}
	var orders []models.Order
	err := query.Where("(updated_at, id) > (?, ?)", after.At, after.ID).Order("updated_at, id").Limit(limit).Find(&orders).Error
	return orders, err
}

// EraseOrder removes from an order's row, timeline and corrections what tells who its recipient is,
// and records that its photos have to be deleted. The external id is the store's number of the
// order, not data of the recipient: it stays. It returns ErrNotFound for an order that has not
// ended.
func (d *DB) EraseOrder(ctx context.Context, id uuid.UUID, searchText string, now time.Time) error {
	if err := d.recordErasedPhotos(ctx, id, now); err != nil {
		return err
	}
	err := requireOneRow(d.with(ctx).Model(&models.Order{}).Where("id = ? AND status IN ?", id, models.EndedStatuses).UpdateColumns(map[string]any{
		"recipient_name": models.ErasedText, "recipient_phone": models.ErasedPhone,
		"recipient_doc_type": nil, "recipient_doc_encrypted": nil, "recipient_doc_verified": nil, "doc_outcome": nil, "doc_name_matches": nil,
		"delivery_address": models.ErasedText, "delivery_reference": nil, "delivery_lat": nil, "delivery_lng": nil,
		"delivery_maps_url": nil, "point_source": nil, "notes": nil, "search_text": searchText,
		"proof_photo": nil, "proof_captured_at": nil, "proof_lat": nil, "proof_lng": nil,
		"cancel_reason": nil, "cancel_note": nil, "erased_at": now, "updated_at": now,
	}))
	if err != nil {
		return err
	}
	if err := d.eraseCorrections(ctx, id); err != nil {
		return err
	}
	return d.with(ctx).Model(&models.TimelineEntry{}).Where("order_id = ?", id).UpdateColumn("detail", nil).Error
}

// HasPendingDeliveries reports whether events of an order are being sent. Those of a paused webhook
// are not: they may wait for as long as its owner likes, and go without what was erased meanwhile.
func (d *DB) HasPendingDeliveries(ctx context.Context, orderID uuid.UUID) (bool, error) {
	var count int64
	err := d.with(ctx).Model(&models.WebhookDelivery{}).
		Where("order_id = ? AND status = ?", orderID, models.WebhookDeliveryPending).
		Where("webhook_id NOT IN (SELECT id FROM webhooks WHERE paused_at IS NOT NULL)").Count(&count).Error
	return count > 0, err
}

// LockDeliveriesOf reads an order's deliveries by id and locks them until the transaction ends.
func (d *DB) LockDeliveriesOf(ctx context.Context, orderID uuid.UUID) ([]models.WebhookDelivery, error) {
	var deliveries []models.WebhookDelivery
	err := d.forUpdate(ctx).Where("order_id = ?", orderID).Order("id").Find(&deliveries).Error
	return deliveries, err
}

// DeliveriesFinishedBefore reads the deliveries that ended before a time and whose data is not
// erased, oldest first.
func (d *DB) DeliveriesFinishedBefore(ctx context.Context, before time.Time, limit int) ([]models.WebhookDelivery, error) {
	var deliveries []models.WebhookDelivery
	err := d.with(ctx).Where("finished_at < ? AND erased_at IS NULL", before).Order("finished_at").Limit(limit).Find(&deliveries).Error
	return deliveries, err
}

// EraseDelivery writes the delivery's data without what was erased, and removes what the receiver
// responded.
func (d *DB) EraseDelivery(ctx context.Context, delivery *models.WebhookDelivery) error {
	err := d.with(ctx).Model(&models.WebhookDelivery{}).Where("id = ?", delivery.ID).
		Select("data", "erased_at").UpdateColumns(delivery).Error
	if err != nil {
		return err
	}
	return d.with(ctx).Model(&models.WebhookAttempt{}).Where("delivery_id = ?", delivery.ID).UpdateColumn("response", nil).Error
}

// creationResponse queries the key with the recorded response to the creation of an order.
func (d *DB) creationResponse(ctx context.Context, orderID uuid.UUID) *gorm.DB {
	return d.with(ctx).Model(&models.IdempotencyRecord{}).Where("order_id = ?", orderID)
}

// CreationResponse reads the recorded response to the creation of an order. It returns ErrNotFound
// if there is none.
func (d *DB) CreationResponse(ctx context.Context, orderID uuid.UUID) ([]byte, error) {
	var record models.IdempotencyRecord
	err := d.creationResponse(ctx, orderID).Take(&record).Error
	return record.Response, err
}

// EraseCreationResponse replaces the recorded response to the creation of an order.
func (d *DB) EraseCreationResponse(ctx context.Context, orderID uuid.UUID, response []byte) error {
	return d.creationResponse(ctx, orderID).UpdateColumn("response", response).Error
}

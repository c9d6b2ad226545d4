package db

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// Delivery reads a delivery and its attempts, oldest first.
func (d *DB) Delivery(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	return d.delivery(ctx, id, d.with(ctx))
}

// LockDelivery reads a delivery and its attempts and locks the delivery until the transaction ends.
func (d *DB) LockDelivery(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	return d.delivery(ctx, id, d.forUpdate(ctx))
}

func (d *DB) delivery(ctx context.Context, id uuid.UUID, query *gorm.DB) (*models.WebhookDelivery, []models.WebhookAttempt, error) {
	delivery, err := deliveryAlone(query, id)
	if err != nil {
		return nil, nil, err
	}
	var attempts []models.WebhookAttempt
	err = d.with(ctx).Where("delivery_id = ?", id).Order("number").Find(&attempts).Error
	return delivery, attempts, err
}

// DeliveryWithoutAttempts reads a delivery alone.
func (d *DB) DeliveryWithoutAttempts(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, error) {
	return deliveryAlone(d.with(ctx), id)
}

// LockDeliveryWithoutAttempts reads a delivery alone and locks it until the transaction ends.
func (d *DB) LockDeliveryWithoutAttempts(ctx context.Context, id uuid.UUID) (*models.WebhookDelivery, error) {
	return deliveryAlone(d.forUpdate(ctx), id)
}

func deliveryAlone(query *gorm.DB, id uuid.UUID) (*models.WebhookDelivery, error) {
	var delivery models.WebhookDelivery
	err := query.Where("id = ?", id).Take(&delivery).Error
	return &delivery, err
}

// FinishAttempt writes the outcome of an attempt.
func (d *DB) FinishAttempt(ctx context.Context, attempt *models.WebhookAttempt) error {
	return d.with(ctx).Save(attempt).Error
}

// SaveDelivery writes the status of a delivery.
func (d *DB) SaveDelivery(ctx context.Context, delivery *models.WebhookDelivery) error {
	return d.with(ctx).Model(delivery).Where("id = ?", delivery.ID).
		Select("status", "next_attempt_at", "queued", "finished_at").Updates(delivery).Error
}

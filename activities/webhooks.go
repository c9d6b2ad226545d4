package activities

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// SendWebhook makes the next attempt at a delivery.
func (a *Activities) SendWebhook(ctx context.Context, deliveryID uuid.UUID) error {
	return a.Webhooks.Send(ctx, deliveryID, models.CauseAuto)
}

// ResendWebhook makes an attempt that a person requested.
func (a *Activities) ResendWebhook(ctx context.Context, deliveryID uuid.UUID) error {
	return a.Webhooks.Send(ctx, deliveryID, models.CauseRedelivery)
}

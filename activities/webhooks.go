package activities

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
	"despacho/workflows"
)

// SendWebhook makes the next attempt at a delivery, or queues it.
func (a *Activities) SendWebhook(ctx context.Context, deliveryID uuid.UUID) (workflows.SendOutcome, error) {
	return a.Webhooks.Send(ctx, deliveryID, models.CauseAuto)
}

// ResendWebhook makes an attempt that a person requested.
func (a *Activities) ResendWebhook(ctx context.Context, deliveryID uuid.UUID) (workflows.SendOutcome, error) {
	return a.Webhooks.Send(ctx, deliveryID, models.CauseRedelivery)
}

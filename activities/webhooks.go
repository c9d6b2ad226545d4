package activities

import (
	"context"

	"github.com/google/uuid"
)

// CallWebhook makes the first attempt at a webhook call, or leaves it to the queue.
func (a *Activities) CallWebhook(ctx context.Context, id uuid.UUID) (string, error) {
	outcome, err := a.Webhooks.CallFirst(ctx, id)
	return string(outcome), err
}

package webhooks

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// HooksOf reads the webhooks that deliveries went to, also those that are over.
func (s *Service) WebhooksOf(ctx context.Context, records []Record) (map[uuid.UUID]models.Webhook, error) {
	ids := map[uuid.UUID]struct{}{}
	for _, record := range records {
		ids[record.Delivery.WebhookID] = struct{}{}
	}
	return s.DB.WebhooksByID(ctx, ids)
}

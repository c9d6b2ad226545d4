package webhooks

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// WebhooksOf reads the webhooks of deliveries, including inactive ones.
func (s *Service) WebhooksOf(ctx context.Context, records []Record) (map[uuid.UUID]models.Webhook, error) {
	ids := map[uuid.UUID]struct{}{}
	for _, record := range records {
		ids[record.Delivery.WebhookID] = struct{}{}
	}
	return s.DB.WebhooksByID(ctx, ids)
}

package webhooks

import (
	"context"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/models"
)

// Page is one page of the delivery log, newest first.
type Page struct {
	Records []Record
	Total   int64
}

// Deliveries reads a page of the deliveries that the caller may see. Of those of another owner's
// webhook it returns neither the webhook nor the attempts.
func (s *Service) Deliveries(ctx context.Context, scope db.WebhookScope, filter db.DeliveryFilter) (*Page, error) {
	deliveries, total, err := s.DB.Deliveries(ctx, scope, filter)
	if err != nil {
		return nil, err
	}
	hooks, err := s.DB.WebhooksOf(ctx, scope, deliveries)
	if err != nil {
		return nil, err
	}
	var own []models.WebhookDelivery
	for _, delivery := range deliveries {
		if hooks[delivery.WebhookID] != nil {
			own = append(own, delivery)
		}
	}
	attempts, err := s.DB.AttemptsOf(ctx, own)
	if err != nil {
		return nil, err
	}
	page := &Page{Records: make([]Record, len(deliveries)), Total: total}
	for i, delivery := range deliveries {
		page.Records[i] = Record{Delivery: delivery, Webhook: hooks[delivery.WebhookID], Attempts: attempts[delivery.ID]}
	}
	return page, nil
}

// GuideCodes returns the guide codes of the orders on a page.
func (s *Service) GuideCodes(ctx context.Context, page *Page) (map[uuid.UUID]string, error) {
	deliveries := make([]models.WebhookDelivery, len(page.Records))
	for i, record := range page.Records {
		deliveries[i] = record.Delivery
	}
	return s.DB.GuideCodesOf(ctx, deliveries)
}

package orders

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"despacho/models"
)

// deliveriesOf creates the deliveries of an event with its data as of now. A store's webhook gets
// the photo's location only if the operator shares it.
func (s *Service) deliveriesOf(event models.Event, o *models.OrderView, webhooks []models.Webhook, shareProofLocation bool, at time.Time) ([]models.WebhookDelivery, error) {
	var deliveries []models.WebhookDelivery
	for _, webhook := range webhooks {
		data, err := json.Marshal(s.eventData(o, webhook.StoreID == nil || shareProofLocation))
		if err != nil {
			return nil, err
		}
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		deliveries = append(deliveries, models.WebhookDelivery{
			ID: id, WebhookID: webhook.ID, OperatorID: o.OperatorID, OrderID: &o.ID, OrderSeq: o.Seq,
			Event: event, Data: string(data), Status: models.WebhookDeliveryPending, NextAttemptAt: &at, CreatedAt: at,
		})
	}
	return deliveries, nil
}

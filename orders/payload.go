package orders

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"despacho/models"
)

// maxDirect is how many webhooks an order's workflow tells of one event: enough for one of the
// operator and one of the store. Each costs Temporal an activity, and those of one operator's
// hundred webhooks would delay everybody's.
const maxDirect = 2

// deliveriesOf creates the deliveries of an event with its data as of now. A store's webhook gets
// the photo's location only if the operator shares it. The order's workflow sends them, except the
// queued ones: those whose circuit is open and those beyond maxDirect.
func (s *Service) deliveriesOf(event models.Event, o *models.OrderView, webhooks []models.Webhook, shareProofLocation bool, at time.Time) ([]models.WebhookDelivery, error) {
	var deliveries []models.WebhookDelivery
	direct := 0
	for _, webhook := range webhooks {
		data, err := json.Marshal(s.eventData(o, webhook.StoreID == nil || shareProofLocation))
		if err != nil {
			return nil, err
		}
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		queued := webhook.CircuitOpenedAt != nil || direct == maxDirect
		if !queued {
			direct++
		}
		deliveries = append(deliveries, models.WebhookDelivery{
			ID: id, WebhookID: webhook.ID, OperatorID: o.OperatorID, Test: webhook.Test, OrderID: &o.ID, OrderSeq: o.Seq,
			Event: event, Data: string(data), Status: models.WebhookDeliveryPending, NextAttemptAt: &at, Queued: queued, CreatedAt: at,
		})
	}
	return deliveries, nil
}

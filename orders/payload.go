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

// feedEvent creates an event with its data as of now. A store gets the photo's location only if the
// operator shares it.
func (s *Service) feedEvent(id uuid.UUID, event models.Event, o *models.OrderView, shareProofLocation bool, at time.Time) (*models.FeedEvent, error) {
	data, err := json.Marshal(s.eventData(o, true))
	if err != nil {
		return nil, err
	}
	created := &models.FeedEvent{ID: id, OperatorID: o.OperatorID, StoreID: o.StoreID, Test: o.Test, OrderID: o.ID, Event: event, Data: string(data), CreatedAt: at}
	if o.ProofPhoto == nil || shareProofLocation {
		return created, nil
	}
	if data, err = json.Marshal(s.eventData(o, false)); err != nil {
		return nil, err
	}
	forStore := string(data)
	created.StoreData = &forStore
	return created, nil
}

// deliveriesOf creates the deliveries of an event; a webhook that is limited to a store gets what
// the store gets. The order's workflow sends them, except the queued ones: those of a
// webhook that is paused or has an open circuit, and those beyond maxDirect.
func deliveriesOf(event *models.FeedEvent, seq int, webhooks []models.Webhook) ([]models.WebhookDelivery, error) {
	var deliveries []models.WebhookDelivery
	direct := 0
	for _, webhook := range webhooks {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		audience := models.RoleOperator
		if webhook.StoreID != nil {
			audience = models.RoleStore
		}
		queued := webhook.PausedAt != nil || webhook.CircuitOpenedAt != nil || direct == maxDirect
		if !queued {
			direct++
		}
		deliveries = append(deliveries, models.WebhookDelivery{
			ID: id, WebhookID: webhook.ID, OperatorID: event.OperatorID, Test: webhook.Test, OrderID: &event.OrderID, OrderSeq: seq,
			Event: event.Event, Data: event.DataFor(audience), Status: models.WebhookDeliveryPending, NextAttemptAt: &event.CreatedAt, Queued: queued, CreatedAt: event.CreatedAt,
		})
	}
	return deliveries, nil
}

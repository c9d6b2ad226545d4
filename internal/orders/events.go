package orders

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/workflows"
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
func deliveriesOf(event *models.FeedEvent, seq int, hooks []models.Webhook) ([]models.WebhookDelivery, error) {
	var deliveries []models.WebhookDelivery
	direct := 0
	for _, webhook := range hooks {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		role := models.RoleOperator
		if webhook.StoreID != nil {
			role = models.RoleStore
		}
		queued := webhook.PausedAt != nil || webhook.CircuitOpenedAt != nil || direct == maxDirect
		if !queued {
			direct++
		}
		deliveries = append(deliveries, models.WebhookDelivery{
			ID: id, WebhookID: webhook.ID, OperatorID: event.OperatorID, Test: webhook.Test, OrderID: &event.OrderID, OrderSeq: seq,
			Event: event.Event, Data: event.DataFor(role), Status: models.WebhookDeliveryPending, NextAttemptAt: &event.CreatedAt, Queued: queued, CreatedAt: event.CreatedAt,
		})
	}
	return deliveries, nil
}

// deliveryRefs returns the workflow references of those new deliveries that the workflow sends.
func deliveryRefs(hooks []models.Webhook, deliveries []models.WebhookDelivery) (refs []workflows.WebhookDeliveryRef) {
	byID := make(map[uuid.UUID]*models.Webhook, len(hooks))
	for i := range hooks {
		byID[hooks[i].ID] = &hooks[i]
	}
	for _, delivery := range deliveries {
		if delivery.Queued {
			continue
		}
		hook := byID[delivery.WebhookID]
		refs = append(refs, webhooks.Ref(db.DeliveryTarget{
			ID: delivery.ID, WebhookID: hook.ID, Event: delivery.Event, URL: hook.URL, Retry: hook.Retry,
		}))
	}
	return refs
}

// maxRefs bounds the deliveries that a snapshot or a move's result names: Temporal takes at most 2
// MB for one payload. The workflow reads the others from the database.
const maxRefs = 1000

// pendingRefs returns the references of the pending deliveries that an order's workflow sends, and
// whether there may be more.
func pendingRefs(ctx context.Context, database *db.DB, orderID uuid.UUID, seq *int) (refs []workflows.WebhookDeliveryRef, more bool, err error) {
	targets, err := database.PendingDeliveries(ctx, orderID, seq, maxRefs)
	if err != nil {
		return nil, false, err
	}
	for _, target := range targets {
		refs = append(refs, webhooks.Ref(target))
	}
	return refs, len(targets) == maxRefs, nil
}

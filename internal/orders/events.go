package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/webhooks"
	"despacho/models"
	"despacho/workflows"
)

// maxDirect is how many webhooks an order's workflow calls for one event: enough for one of the
// operator and one of the store. Each costs Temporal an activity, and those of one operator's
// hundred webhooks would delay everybody's.
const maxDirect = 2

// feedEvent creates an event with its data as of now, and for EventUpdated the members that have
// changed. A store gets where photos were taken only if the operator shares it.
func (s *Service) feedEvent(
	id uuid.UUID, event models.Event, o *models.OrderView, changed []string, shareProofLocation bool, at time.Time,
) (*models.FeedEvent, error) {
	render := func(withLocation bool) (string, error) {
		rendered := s.eventData(o, withLocation)
		rendered.Changed = changed
		text, err := json.Marshal(rendered)
		return string(text), err
	}
	data, err := render(true)
	if err != nil {
		return nil, err
	}
	created := &models.FeedEvent{ID: id, OperatorID: o.OperatorID, StoreID: o.StoreID, Test: o.Test, OrderID: o.ID, Event: event,
		Data: data, CreatedAt: at}
	if o.ProofPhoto == nil && len(o.Attempts) == 0 || shareProofLocation {
		return created, nil
	}
	forStore, err := render(false)
	if err != nil {
		return nil, err
	}
	created.StoreData = &forStore
	return created, nil
}

// changedMembers are the members of an order that two versions of it have with other values, by
// name.
func (s *Service) changedMembers(before, after *models.OrderView) ([]string, error) {
	var versions [2]map[string]json.RawMessage
	for i, order := range []*models.OrderView{before, after} {
		text, err := json.Marshal(s.eventData(order, false))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &versions[i]); err != nil {
			return nil, err
		}
	}
	changed := []string{}
	for _, name := range slices.Sorted(maps.Keys(versions[1])) {
		if !bytes.Equal(versions[0][name], versions[1][name]) {
			changed = append(changed, name)
		}
	}
	if _, had := versions[0]["delivery_proof"]; had && versions[1]["delivery_proof"] == nil {
		changed = append(changed, "delivery_proof")
	}
	return changed, nil
}

// deliveriesOf creates the webhook calls of an event; a webhook that is limited to a store gets
// what the store gets. The order's workflow makes the first attempt at them, except the queued
// ones: those of a webhook that is paused, has an open circuit or has to get earlier events of the
// order first, and those beyond maxDirect.
func deliveriesOf(
	event *models.FeedEvent, seq int, hooks []models.Webhook, heldUp map[uuid.UUID]bool,
) ([]models.WebhookDelivery, error) {
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
		queued := webhook.PausedAt != nil || webhook.CircuitOpenedAt != nil || heldUp[webhook.ID] || direct == maxDirect
		if !queued {
			direct++
		}
		deliveries = append(deliveries, models.WebhookDelivery{
			ID: id, WebhookID: webhook.ID, OperatorID: event.OperatorID, Test: webhook.Test, OrderID: &event.OrderID,
			OrderSeq: seq,
			Event:    event.Event, Data: event.DataFor(role), Status: models.WebhookDeliveryPending,
			NextAttemptAt: &event.CreatedAt,
			Queued:        queued, CreatedAt: event.CreatedAt,
		})
	}
	return deliveries, nil
}

// callsOf returns those of an event's webhook calls whose first attempt the order's workflow makes.
func callsOf(hooks []models.Webhook, deliveries []models.WebhookDelivery) (calls []workflows.WebhookCall) {
	hosts := make(map[uuid.UUID]string, len(hooks))
	for _, hook := range hooks {
		hosts[hook.ID] = webhooks.HostOf(hook.URL)
	}
	for _, delivery := range deliveries {
		if !delivery.Queued {
			calls = append(calls, workflows.WebhookCall{ID: delivery.ID, Event: delivery.Event, Host: hosts[delivery.WebhookID]})
		}
	}
	return calls
}

// firstCalls reads the webhook calls of an order, or of one of its moves, whose first attempt is
// the order's workflow's to make. There is at most one of an event for each webhook.
func firstCalls(ctx context.Context, database *db.DB, orderID uuid.UUID, seq *int) ([]workflows.WebhookCall, error) {
	query := database.Query(ctx).Table("deliveries").Select("deliveries.id, deliveries.event, webhooks.url").
		Joins("JOIN webhooks ON webhooks.id = deliveries.webhook_id").
		Where("deliveries.order_id = ? AND deliveries.status = ? AND NOT deliveries.queued", orderID,
			models.WebhookDeliveryPending)
	if seq != nil {
		query = query.Where("deliveries.order_seq = ?", *seq)
	}
	var rows []struct {
		ID    uuid.UUID
		Event models.Event
		URL   string `gorm:"column:url"`
	}
	err := query.Order("deliveries.order_seq, deliveries.id").Scan(&rows).Error
	var calls []workflows.WebhookCall
	for _, row := range rows {
		calls = append(calls, workflows.WebhookCall{ID: row.ID, Event: row.Event, Host: webhooks.HostOf(row.URL)})
	}
	return calls, err
}

package webhooks

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/models"
)

// Announcement is an event of an operator that is about no order.
type Announcement struct {
	OperatorID uuid.UUID
	// StoreID is whose event it is; nil for one of the operator alone.
	StoreID *uuid.UUID
	Event   models.Event
	Data    any
	At      time.Time
}

// Announce queues an event for the webhooks that subscribe to it, in the transaction of what it
// tells about.
func Announce(ctx context.Context, tx *db.DB, a Announcement) error {
	hooks, err := Active(ctx, tx, db.WebhookScope{OperatorID: a.OperatorID})
	if err != nil {
		return err
	}
	hooks = slices.DeleteFunc(hooks, func(hook models.Webhook) bool { return !hook.SubscribesTo(a.Event, a.StoreID, false) })
	return queueEvent(ctx, tx, hooks, a.Event, a.Data, a.At)
}

// queueEvent queues an event that is about no order for webhooks.
func queueEvent(ctx context.Context, tx *db.DB, hooks []models.Webhook, event models.Event, data any, now time.Time) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	deliveries := make([]models.WebhookDelivery, len(hooks))
	for i, hook := range hooks {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		deliveries[i] = models.WebhookDelivery{
			ID: id, WebhookID: hook.ID, OperatorID: hook.OperatorID, Test: hook.Test, Event: event, Data: string(text),
			Status: models.WebhookDeliveryPending, NextAttemptAt: &now, Queued: true, CreatedAt: now,
		}
	}
	return tx.InsertDeliveries(ctx, deliveries)
}

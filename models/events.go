package models

import "slices"

// Event is the name of a webhook event.
type Event string

// The events of orders.
const (
	EventCreated   Event = "order.created"
	EventAssigned  Event = "order.assigned"
	EventDelivered Event = "order.delivered"
	EventCancelled Event = "order.cancelled"
)

// EventTest is sent on demand to test a webhook; it cannot be subscribed to.
const EventTest Event = "webhook.test"

// EventWebhookDisabled tells the owner's other webhooks that the service has deactivated one.
const EventWebhookDisabled Event = "webhook.disabled"

// Events lists the events of orders.
var Events = []Event{EventCreated, EventAssigned, EventDelivered, EventCancelled}

// SubscribableEvents lists every event a webhook can subscribe to.
var SubscribableEvents = append(slices.Clone(Events), EventWebhookDisabled)

// Event returns the webhook event of a move. Reception has none.
func (m Move) Event() (Event, bool) {
	switch m {
	case MoveAssign:
		return EventAssigned, true
	case MoveDeliver:
		return EventDelivered, true
	case MoveCancel:
		return EventCancelled, true
	}
	return "", false
}

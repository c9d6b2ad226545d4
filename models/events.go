package models

// Event is the name of a webhook event.
type Event string

// The events receivers can subscribe to.
const (
	EventCreated   Event = "order.created"
	EventAssigned  Event = "order.assigned"
	EventDelivered Event = "order.delivered"
	EventCancelled Event = "order.cancelled"
)

// EventTest is sent on demand to test a webhook; it cannot be subscribed to.
const EventTest Event = "webhook.test"

// Events lists every event a webhook can subscribe to.
var Events = []Event{EventCreated, EventAssigned, EventDelivered, EventCancelled}

// Event returns the webhook event of a move. Reception has none.
func (m Move) Event() (Event, bool) {
	switch m {
	case MoveAssign:
		return EventAssigned, true
	case MoveDeliver:
		return EventDelivered, true
	case MoveCancel, MoveAutoCancel:
		return EventCancelled, true
	}
	return "", false
}

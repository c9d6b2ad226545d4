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

// EventTest is sent on demand to try a webhook; nobody subscribes to it.
const EventTest Event = "webhook.test"

// Events lists every event a webhook can subscribe to.
var Events = []Event{EventCreated, EventAssigned, EventDelivered, EventCancelled}

// Event returns what a move tells receivers; reception tells nothing.
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

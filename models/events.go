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

// The events that only those get who ask for them. EventUpdated says which members of an order are
// other than the receiver was told.
const (
	EventAttemptFailed Event = "order.attempt_failed"
	EventReturning     Event = "order.returning"
	EventReturned      Event = "order.returned"
	EventUpdated       Event = "order.updated"
)

// The events of settlements, which only those get who ask for them.
const (
	EventSettlementIssued Event = "settlement.issued"
	EventSettlementPaid   Event = "settlement.paid"
)

// EventTest is sent on demand to test a webhook; it cannot be subscribed to.
const EventTest Event = "webhook.test"

// EventWebhookDisabled tells the owner's other webhooks that the service has deactivated one.
const EventWebhookDisabled Event = "webhook.disabled"

// Events lists the events of orders that the contract has.
var Events = []Event{EventCreated, EventAssigned, EventDelivered, EventCancelled}

// OptionalEvents lists the events of orders that only those get who ask for them.
var OptionalEvents = []Event{EventAttemptFailed, EventReturning, EventReturned, EventUpdated}

// OrderEvents lists all events of orders.
var OrderEvents = slices.Concat(Events, OptionalEvents)

// SubscribableEvents lists every event a webhook can subscribe to.
var SubscribableEvents = slices.Concat(OrderEvents, []Event{EventSettlementIssued, EventSettlementPaid, EventWebhookDisabled})

// Events returns the events of a move. Reception has none.
func (m Move) Events() []Event {
	switch m {
	case MoveAssign:
		return []Event{EventAssigned}
	case MoveDeliver:
		return []Event{EventDelivered}
	case MoveCancel:
		return []Event{EventCancelled}
	case MoveFail:
		return []Event{EventAttemptFailed}
	case MoveReturn:
		return []Event{EventReturning}
	case MoveHandBack:
		return []Event{EventCancelled, EventReturned}
	case MoveRetry, MoveUndo:
		return []Event{EventUpdated}
	}
	return nil
}

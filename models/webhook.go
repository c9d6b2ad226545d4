package models

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Webhook is a URL that events are sent to.
type Webhook struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	// StoreID limits the events to those of one store's orders; it says nothing about the owner.
	StoreID *uuid.UUID
	// OwnerStoreID is the store that registered the webhook and owns it; nil if the operator does.
	OwnerStoreID *uuid.UUID
	// Test means that a test key registered the webhook: it gets the events of test orders only.
	Test                bool
	URL                 string `gorm:"column:url"`
	Events              string
	Secret              []byte
	PreviousSecret      []byte
	PreviousSecretUntil *time.Time
	// OlderSecrets are those before the previous one that still sign, as JSON.
	OlderSecrets []byte
	Retry        bool
	Active       bool
	// PausedAt is when its owner paused it: its events wait.
	PausedAt            *time.Time
	FailingSince        *time.Time
	ConsecutiveFailures int
	// The circuit is open from CircuitOpenedAt on, or has been tried since then again after a long
	// break; NextProbeAt is when the next delivery is tried,
	// and until ProbingUntil one is being tried.
	CircuitOpenedAt   *time.Time
	NextProbeAt       *time.Time
	ProbingUntil      *time.Time
	DeactivatedAt     *time.Time
	DeactivatedReason *string
	CreatedAt         time.Time
}

// Owner is the role of whoever registered the webhook.
func (w *Webhook) Owner() Role {
	if w.OwnerStoreID != nil {
		return RoleStore
	}
	return RoleOperator
}

// CircuitState says whether a webhook's deliveries are sent as they come.
type CircuitState string

// The states of a circuit: open after several failures in a row, half open while one delivery is
// being tried, closed after a success.
const (
	CircuitClosed   CircuitState = "closed"
	CircuitOpen     CircuitState = "open"
	CircuitHalfOpen CircuitState = "half_open"
)

// Circuit is the state of the webhook's circuit at a time.
func (w *Webhook) Circuit(now time.Time) CircuitState {
	switch {
	case w.CircuitOpenedAt == nil:
		return CircuitClosed
	case w.ProbingUntil != nil && now.Before(*w.ProbingUntil):
		return CircuitHalfOpen
	}
	return CircuitOpen
}

// JoinEvents encodes events for storage, separated by spaces.
func JoinEvents(events []Event) string {
	words := make([]string, len(events))
	for i, event := range events {
		words[i] = string(event)
	}
	return strings.Join(words, " ")
}

// EventList decodes what JoinEvents encoded.
func (w *Webhook) EventList() []Event {
	var events []Event
	for word := range strings.FieldsSeq(w.Events) {
		events = append(events, Event(word))
	}
	return events
}

// SubscribesTo reports whether the webhook is active and receives an event of a store and a mode.
func (w *Webhook) SubscribesTo(event Event, store *uuid.UUID, test bool) bool {
	if !w.Active || w.Test != test || !slices.Contains(w.EventList(), event) {
		return false
	}
	return w.StoreID == nil || (store != nil && *w.StoreID == *store)
}

// WebhookDeliveryStatus is the status of a webhook delivery.
type WebhookDeliveryStatus string

// The statuses of a delivery.
const (
	WebhookDeliveryPending   WebhookDeliveryStatus = "pending"
	WebhookDeliveryDelivered WebhookDeliveryStatus = "delivered"
	WebhookDeliveryFailed    WebhookDeliveryStatus = "failed"
)

// WebhookDelivery is one event for one webhook, with the event's data as of when it happened.
type WebhookDelivery struct {
	ID         uuid.UUID
	WebhookID  uuid.UUID
	OperatorID uuid.UUID
	// Test is that of the webhook.
	Test          bool
	OrderID       *uuid.UUID
	OrderSeq      int
	Event         Event
	Data          string
	Status        WebhookDeliveryStatus
	NextAttemptAt *time.Time
	// Queued means that its attempts are the workers', which find it in the database. Before that the
	// order's workflow makes the first one.
	Queued bool
	// RequestedAt is when somebody requested an attempt beside the schedule, or the time until which
	// that waits; nil once it was made.
	RequestedAt *time.Time
	// AttemptsBefore is how many attempts were made before it was last queued again, as if it were
	// new: they do not count for its retries.
	AttemptsBefore int
	CreatedAt      time.Time
	FinishedAt     *time.Time
	// ErasedAt is when the personal data in Data and the receiver's responses were erased; later
	// responses are not kept.
	ErasedAt *time.Time
}

// TableName is not derived from the name of the type.
func (WebhookDelivery) TableName() string { return "deliveries" }

// AttemptCause says what caused an attempt.
type AttemptCause string

// Attempts of the retry schedule, and redeliveries that a person requested.
const (
	CauseAuto       AttemptCause = "auto"
	CauseRedelivery AttemptCause = "redelivery"
)

// WebhookAttempt is one attempt at a delivery. It is written before the request is sent, so that
// after a crash the event is not sent twice.
type WebhookAttempt struct {
	DeliveryID uuid.UUID `gorm:"primaryKey"`
	Number     int       `gorm:"primaryKey"`
	Cause      AttemptCause
	StartedAt  time.Time
	FinishedAt *time.Time
	StatusCode *int
	DurationMS *int64 `gorm:"column:duration_ms"`
	Error      *string
	Response   *string
}

// TableName is not derived from the name of the type.
func (WebhookAttempt) TableName() string { return "delivery_attempts" }

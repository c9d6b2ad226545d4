package models

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Webhook is an address that is told about events. With a store it is a store's webhook, else the
// operator's.
type Webhook struct {
	ID                  uuid.UUID
	OperatorID          uuid.UUID
	StoreID             *uuid.UUID
	URL                 string `gorm:"column:url"`
	Events              string
	Secret              []byte
	PreviousSecret      []byte
	PreviousSecretUntil *time.Time
	Retry               bool
	Active              bool
	FailingSince        *time.Time
	DeactivatedAt       *time.Time
	DeactivatedReason   *string
	CreatedAt           time.Time
}

// JoinEvents is the form events are stored in.
func JoinEvents(events []Event) string {
	words := make([]string, len(events))
	for i, event := range events {
		words[i] = string(event)
	}
	return strings.Join(words, " ")
}

// EventList reads the stored form.
func (w *Webhook) EventList() []Event {
	var events []Event
	for word := range strings.FieldsSeq(w.Events) {
		events = append(events, Event(word))
	}
	return events
}

// Wants reports whether the webhook is told about an event of an order of the given store.
func (w *Webhook) Wants(event Event, store *uuid.UUID) bool {
	if !w.Active || !slices.Contains(w.EventList(), event) {
		return false
	}
	return w.StoreID == nil || (store != nil && *w.StoreID == *store)
}

// WebhookDeliveryStatus is how an event fares at one webhook.
type WebhookDeliveryStatus string

// The statuses of a delivery.
const (
	WebhookDeliveryPending   WebhookDeliveryStatus = "pending"
	WebhookDeliveryDelivered WebhookDeliveryStatus = "delivered"
	WebhookDeliveryFailed    WebhookDeliveryStatus = "failed"
)

// WebhookDelivery is one event for one webhook, with its data as it was when the event happened.
type WebhookDelivery struct {
	ID            uuid.UUID
	WebhookID     uuid.UUID
	OperatorID    uuid.UUID
	OrderID       *uuid.UUID
	OrderSeq      int
	Event         Event
	Data          string
	Status        WebhookDeliveryStatus
	NextAttemptAt *time.Time
	CreatedAt     time.Time
	FinishedAt    *time.Time
}

// TableName is the name from before the type's.
func (WebhookDelivery) TableName() string { return "deliveries" }

// AttemptCause says who wanted an attempt.
type AttemptCause string

// The schedule's own attempts, and those that a person asked for.
const (
	CauseAuto       AttemptCause = "auto"
	CauseRedelivery AttemptCause = "redelivery"
)

// WebhookAttempt is one try to send a delivery. It is written before the request goes out, so that
// a process that dies in between cannot send the event twice.
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

// TableName is the name from before the type's.
func (WebhookAttempt) TableName() string { return "delivery_attempts" }

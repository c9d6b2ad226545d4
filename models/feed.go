package models

import (
	"time"

	"github.com/google/uuid"
)

// FeedRetention is how long an event stays in the feed.
const FeedRetention = 30 * 24 * time.Hour

// FeedEvent is an event of an order as the feed lists it.
type FeedEvent struct {
	// ID is that of the event's timeline entry.
	ID         uuid.UUID
	OperatorID uuid.UUID
	StoreID    *uuid.UUID
	// Test is that of the order.
	Test    bool
	OrderID uuid.UUID
	Event   Event
	// Data is what the operator gets, as of when it happened; StoreData is what the store gets, nil
	// if that is the same.
	Data      string
	StoreData *string
	// Position is the event's place in its operator's feed of the mode, nil until it is published.
	Position  *int64
	CreatedAt time.Time
	// ErasedAt is when the personal data was erased.
	ErasedAt *time.Time
}

// DataFor is the event's data for the operator, or for its store.
func (e *FeedEvent) DataFor(role Role) string {
	if role == RoleStore && e.StoreData != nil {
		return *e.StoreData
	}
	return e.Data
}

package orders

import (
	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/models"
)

// Caller is an API key or a panel user of an operator, optionally restricted to one store, a rider,
// or the recipient of one order.
type Caller struct {
	Operator *models.Operator
	// StoreID restricts the caller to one store's orders.
	StoreID *uuid.UUID
	// KeyID is the API key, nil for a panel user.
	KeyID *uuid.UUID
	// UserID is the panel user, nil for an API key.
	UserID *uuid.UUID
	// Test means a test key: it creates and sees test orders only. Everybody else sees the others.
	Test bool
	// RiderID is the rider, who moves only what is with them, nil for others.
	RiderID *uuid.UUID
	// Recipient means the recipient of an order, who decides about its next attempt.
	Recipient bool
	// decides means that what is corrected belongs to a decision after a failed attempt.
	decides bool
}

// requester is the caller in the request of a move.
func (c Caller) requester() models.Requester {
	return models.Requester{UserID: c.UserID, KeyID: c.KeyID, ByRiderID: c.RiderID}
}

// Actor is the caller's actor in an order's timeline.
func (c Caller) Actor() models.Actor {
	switch {
	case c.RiderID != nil:
		return models.ByRider
	case c.Recipient:
		return models.ByRecipient
	case c.StoreID != nil:
		return models.ByStore
	}
	return models.ByOperator
}

// Scope is what the caller may see.
func (c Caller) Scope() db.OrderScope {
	return db.OrderScope{OperatorID: c.Operator.ID, StoreID: c.StoreID, Test: c.Test}
}

// idempotencyScope owns the caller's Idempotency-Keys. Each API key has its own; panel users of a
// store or an operator share theirs, so that an upload repeated by a colleague creates nothing
// twice.
func (c Caller) idempotencyScope() uuid.UUID {
	switch {
	case c.KeyID != nil:
		return *c.KeyID
	case c.StoreID != nil:
		return *c.StoreID
	}
	return c.Operator.ID
}

// seesProofLocation reports whether the caller may see where a delivery photo was taken.
func (c Caller) seesProofLocation() bool {
	return c.StoreID == nil || c.Operator.ShareProofLocation
}

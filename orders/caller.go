package orders

import (
	"github.com/google/uuid"

	"despacho/db"
	"despacho/models"
)

// Caller is who asks: an API key or a panel user of an operator, perhaps bound to one of its
// stores.
type Caller struct {
	Operator *models.Operator
	// StoreID binds the caller to one store: it sees and creates nothing outside it.
	StoreID *uuid.UUID
	// KeyID is the API key, nil for a panel user.
	KeyID *uuid.UUID
}

// Actor is how the caller appears in an order's story.
func (c Caller) Actor() models.Actor {
	if c.StoreID != nil {
		return models.ByStore
	}
	return models.ByOperator
}

// Scope is what the caller may see.
func (c Caller) Scope() db.OrderScope {
	return db.OrderScope{OperatorID: c.Operator.ID, StoreID: c.StoreID}
}

// keyScope is whose Idempotency-Keys the caller's are. API keys do not collide with each other;
// colleagues in the panel share theirs, so that what one of them has sent already is not created
// again by another.
func (c Caller) idempotencyScope() uuid.UUID {
	switch {
	case c.KeyID != nil:
		return *c.KeyID
	case c.StoreID != nil:
		return *c.StoreID
	}
	return c.Operator.ID
}

// SeesProofLocation reports whether the caller is shown where a delivery photo was taken.
func (c Caller) SeesProofLocation() bool {
	return c.StoreID == nil || c.Operator.ShareProofLocation
}

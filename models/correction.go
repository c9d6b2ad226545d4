package models

import "github.com/google/uuid"

// CorrectedField is a field of an order that was corrected. Most are named as in the API.
type CorrectedField string

// The fields that can be corrected. The shipping cost follows from others.
const (
	CorrectedPhone     CorrectedField = "recipient_phone"
	CorrectedAddress   CorrectedField = "delivery_address"
	CorrectedReference CorrectedField = "delivery_reference"
	CorrectedLocation  CorrectedField = "location_id"
	CorrectedMapsURL   CorrectedField = "delivery_maps_url"
	CorrectedPoint     CorrectedField = "delivery_point"
	CorrectedNotes     CorrectedField = "notes"
	CorrectedAmount    CorrectedField = "amount_to_collect"
	CorrectedPayment   CorrectedField = "payment_type"
	CorrectedSize      CorrectedField = "size"
	CorrectedCost      CorrectedField = "shipping_cost"

	// The next ones are of a delivery.
	CorrectedCollected CorrectedField = "actual_amount_collected"
	CorrectedMethods   CorrectedField = "collections"
	CorrectedProof     CorrectedField = "delivery_proof"
)

// ImpersonalCorrections are the fields whose values tell nothing about the recipient: they are kept
// when the recipient's data is erased.
var ImpersonalCorrections = []CorrectedField{
	CorrectedLocation, CorrectedAmount, CorrectedPayment, CorrectedSize, CorrectedCost, CorrectedCollected,
	CorrectedMethods,
}

// Correction is one corrected field of an order. A nil value is an empty one, or one that was
// erased.
type Correction struct {
	ID      uuid.UUID
	OrderID uuid.UUID
	// EntryID is the timeline entry of the correction, which says who made it and when.
	EntryID  uuid.UUID
	Field    CorrectedField
	OldValue *string
	NewValue *string
}

// TableName is the name of the table.
func (Correction) TableName() string { return "order_corrections" }

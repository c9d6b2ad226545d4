package models

import (
	"database/sql/driver"

	"despacho/internal/jsoncolumn"
	"despacho/internal/money"
)

// Method is a way of payment at the door.
type Method string

// The ways of payment.
const (
	PaidInCash     Method = "cash"
	PaidByYape     Method = "yape"
	PaidByPlin     Method = "plin"
	PaidByTransfer Method = "transfer"
	PaidByCard     Method = "card"
	PaidOtherwise  Method = "other"
)

// Methods lists every way of payment.
var Methods = []Method{PaidInCash, PaidByYape, PaidByPlin, PaidByTransfer, PaidByCard, PaidOtherwise}

// Label is the display name of the way of payment.
func (m Method) Label() string {
	label, known := map[Method]string{
		PaidInCash: "Efectivo", PaidByYape: "Yape", PaidByPlin: "Plin", PaidByTransfer: "Transferencia", PaidByCard: "Tarjeta",
		PaidOtherwise: "Otro medio",
	}[m]
	if !known {
		return string(m)
	}
	return label
}

// Collection is what was collected at a delivery by one way of payment.
type Collection struct {
	Method Method      `json:"method"`
	Amount money.Cents `json:"amount"`
	// Reference is the number of the operation, nil if there is none.
	Reference *string `json:"reference"`
}

// MaxReference is the largest number of characters of a Collection's Reference.
const MaxReference = 100

// Collections are what was collected at a delivery, in a column as JSON.
type Collections []Collection

// Scan implements sql.Scanner.
func (c *Collections) Scan(stored any) error { return jsoncolumn.Scan(stored, c) }

// Value implements driver.Valuer.
func (c Collections) Value() (driver.Value, error) { return jsoncolumn.Value(c, len(c) == 0) }

// Total is the sum of what was collected.
func (c Collections) Total() (total money.Cents) {
	for _, collection := range c {
		total += collection.Amount
	}
	return total
}

// Anonymous are the collections without the numbers of their operations.
func (c Collections) Anonymous() Collections {
	var kept Collections
	for _, collection := range c {
		collection.Reference = nil
		kept = append(kept, collection)
	}
	return kept
}

// Collected is what was collected at the delivery of an order, by way of payment. What was recorded
// without one is cash: whoever carries it owes it until somebody says otherwise.
func (o *Order) Collected() Collections {
	if len(o.Collections) > 0 || o.ActualAmountCollected == nil {
		return o.Collections
	}
	return Collections{{Method: PaidInCash, Amount: *o.ActualAmountCollected}}
}

package models

import (
	"time"

	"github.com/google/uuid"
)

// BorneBy is who bears the difference between what a rider owes and what is counted.
type BorneBy string

// Who bears a difference. The rider's stays on the rider's account.
const (
	BorneByRider    BorneBy = "rider"
	BorneByOperator BorneBy = "operator"
)

// String is the word itself, for templates, which compare no other types.
func (b BorneBy) String() string { return string(b) }

// HandIn is money that a rider handed in. Its amounts are in the ledger. It is never changed.
type HandIn struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	RiderID    uuid.UUID
	// Number counts the operator's hand-ins.
	Number int
	// OnAccount means that the rider goes on: nothing is closed.
	OnAccount bool
	// BorneBy says who bears the difference, and Reason why there is one; nil if there is none.
	BorneBy *BorneBy
	Reason  *string
	UserID  uuid.UUID
	At      time.Time
}

// SettlementStatus is the status of a settlement.
type SettlementStatus string

// The statuses of a settlement. What is not issued is no row yet: it is read from the ledger.
const (
	SettlementIssued SettlementStatus = "issued"
	SettlementPaid   SettlementStatus = "paid"
)

// Label is the display name of the status.
func (s SettlementStatus) Label() string {
	if s == SettlementPaid {
		return "Pagada"
	}
	return "Emitida"
}

// Settlement is what an operator pays a store for a period. Its amounts are in the ledger.
type Settlement struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	// StoreID is nil for the operator's own orders.
	StoreID *uuid.UUID
	// Number counts the operator's settlements.
	Number int
	Status SettlementStatus
	// PeriodFrom and PeriodTo are dates YYYY-MM-DD in the operator's time zone, both included.
	PeriodFrom, PeriodTo string
	IssuedBy             uuid.UUID
	IssuedAt             time.Time
	PaidBy               *uuid.UUID
	PaidAt               *time.Time
	// PaidFrom is AccountTill or AccountBank, Reference the number that the bank gave.
	PaidFrom  *Account
	Reference *string
}

package models

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/money"
)

// Account is where money is, or whom it belongs to.
type Account string

// The accounts of an operator's ledger. A positive balance is money that the operator has or is
// owed; a negative one is what the operator owes, or has earned.
const (
	// AccountRider is what a rider has collected and not handed in, by way of payment.
	AccountRider Account = "rider"
	AccountTill  Account = "till"
	AccountBank  Account = "bank"
	// What is owed to a store goes through three accounts: AccountPending until the rider has handed
	// it in, AccountStore until it is in a settlement, AccountSettled until that is paid.
	AccountPending Account = "pending"
	AccountStore   Account = "store"
	AccountSettled Account = "settled"
	// AccountIncome is what the operator has earned, AccountDifferences what it has lost or found.
	AccountIncome      Account = "income"
	AccountDifferences Account = "differences"
)

// Concept is what the money of a posting is for.
type Concept string

// The concepts of postings.
const (
	ForCollection Concept = "collection"
	ForShipping   Concept = "shipping"
	ForAttempt    Concept = "attempt"
	ForReturn     Concept = "return"
	ForAdjustment Concept = "adjustment"
	ForDifference Concept = "difference"
	ForPayment    Concept = "payment"
)

// Label is the display name of the concept.
func (c Concept) Label() string {
	return map[Concept]string{
		ForCollection: "Cobrado", ForShipping: "Envío", ForAttempt: "Intento fallido", ForReturn: "Devolución",
		ForAdjustment: "Ajuste", ForDifference: "Diferencia", ForPayment: "Pago",
	}[c]
}

// LedgerKind is why an entry is in the ledger.
type LedgerKind string

// The kinds of entries. The first four are of orders.
const (
	LedgerDelivery   LedgerKind = "delivery"
	LedgerShipping   LedgerKind = "shipping"
	LedgerAttempt    LedgerKind = "attempt"
	LedgerReturn     LedgerKind = "return"
	LedgerHandIn     LedgerKind = "hand_in"
	LedgerSettlement LedgerKind = "settlement"
	LedgerPayment    LedgerKind = "payment"
	LedgerAdjustment LedgerKind = "adjustment"
)

// LedgerEntry is an entry of the ledger. It is never changed.
type LedgerEntry struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Kind       LedgerKind
	// Reversal means that it takes back what another entry of its kind has posted.
	Reversal bool
	// SourceID is the timeline entry, the hand-in or the settlement that it is about.
	SourceID *uuid.UUID
	Reason   *string
	UserID   *uuid.UUID
	// Day is the date YYYY-MM-DD of the business in the operator's time zone.
	Day      string
	At       time.Time
	Postings []Posting `gorm:"-"`
}

// Posting is an amount of an entry in an account. The amounts of an entry sum to zero.
type Posting struct {
	EntryID    uuid.UUID
	OperatorID uuid.UUID
	Account    Account
	// OwnerID is the rider or the store of the account, OrderID the order that the money is for; zero
	// for none.
	OwnerID uuid.UUID
	OrderID uuid.UUID
	// Method is empty where the way of payment does not matter.
	Method  Method
	Concept Concept
	Day     string
	Amount  money.Cents `gorm:"column:amount_cents"`
}

// TableName is not derived from the name of the type.
func (Posting) TableName() string { return "ledger_postings" }

// Place is an account with its owner.
type Place struct {
	Account Account
	OwnerID uuid.UUID
}

// Transfer moves an amount from one place to another. An amount of zero is no posting.
func Transfer(from, to Place, amount money.Cents, common Posting) []Posting {
	if amount == 0 {
		return nil
	}
	credit, debit := common, common
	credit.Account, credit.OwnerID, credit.Amount = from.Account, from.OwnerID, -amount
	debit.Account, debit.OwnerID, debit.Amount = to.Account, to.OwnerID, amount
	return []Posting{credit, debit}
}

// charge is an entry that an order in a state implies. Those of an order differ in kind and number.
type charge struct {
	kind     LedgerKind
	number   int
	postings []Posting
}

// charges is the one table of what an order's state means in money.
func charges(o *Order) []charge {
	if o == nil {
		return nil
	}
	var store uuid.UUID
	if o.StoreID != nil {
		store = *o.StoreID
	}
	income := Place{Account: AccountIncome}
	fee := func(kind LedgerKind, number int, concept Concept, amount money.Cents) charge {
		return charge{kind, number, Transfer(income, Place{AccountStore, store}, amount, Posting{OrderID: o.ID, Concept: concept})}
	}
	var all []charge
	if o.Status == StatusDelivered {
		collected := charge{kind: LedgerDelivery}
		for _, part := range o.Collected() {
			collected.postings = append(collected.postings, Transfer(Place{AccountPending, store}, Place{AccountRider, *o.RiderID}, part.Amount,
				Posting{OrderID: o.ID, Concept: ForCollection, Method: part.Method})...)
		}
		all = append(all, collected, fee(LedgerShipping, 0, ForShipping, o.ShippingCost))
	}
	for _, attempt := range o.Attempts {
		all = append(all, fee(LedgerAttempt, attempt.Number, ForAttempt, attempt.Fee))
	}
	return append(all, fee(LedgerReturn, 0, ForReturn, o.ReturnFee))
}

// LedgerChange is what a change of an order changes in the ledger: what no longer holds is taken
// back, and what holds now is posted; before is nil for a new order. Test orders have no money.
func LedgerChange(before, after *Order) []LedgerEntry {
	if after.Test {
		return nil
	}
	was, is := charges(before), charges(after)
	var entries []LedgerEntry
	for _, old := range without(was, is) {
		for i := range old.postings {
			old.postings[i].Amount = -old.postings[i].Amount
		}
		entries = append(entries, LedgerEntry{Kind: old.kind, Reversal: true, Postings: old.postings})
	}
	for _, now := range without(is, was) {
		entries = append(entries, LedgerEntry{Kind: now.kind, Postings: now.postings})
	}
	return entries
}

// without are the charges that post something and are not among the others.
func without(of, others []charge) (left []charge) {
	for _, c := range of {
		same := func(other charge) bool {
			return other.kind == c.kind && other.number == c.number && slices.Equal(other.postings, c.postings)
		}
		if len(c.postings) > 0 && !slices.ContainsFunc(others, same) {
			left = append(left, c)
		}
	}
	return left
}

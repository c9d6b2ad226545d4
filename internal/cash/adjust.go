package cash

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// AdjustmentKind is what is written by hand.
type AdjustmentKind string

// What is written by hand. A positive amount of a rider is what the rider owes more, of a store
// what the store gets more; a deposit goes from the till to the bank; a count says what is in the
// till.
const (
	AdjustRider AdjustmentKind = "rider"
	AdjustStore AdjustmentKind = "store"
	AdjustTill  AdjustmentKind = "count"
	Deposit     AdjustmentKind = "deposit"
)

// AdjustmentKinds lists every kind.
var AdjustmentKinds = []AdjustmentKind{AdjustTill, Deposit, AdjustRider, AdjustStore}

// Adjustment is an entry by hand, with its reason.
type Adjustment struct {
	Kind AdjustmentKind
	// OwnerID is the rider or the store.
	OwnerID uuid.UUID
	// Amount is positive unless Less is set; of a count it is what was counted.
	Amount money.Cents
	Less   bool
	Reason string
}

// ReadAdjustment reads an entry by hand of a kind.
func ReadAdjustment(in *jsonbody.Object, kind AdjustmentKind) (*Adjustment, error) {
	a := &Adjustment{Kind: kind, Reason: in.RequiredLines("reason", maxReason)}
	switch kind {
	case AdjustRider:
		a.OwnerID = in.RequiredUUID("rider_id")
	case AdjustStore:
		if id := in.UUID("store_id"); id != nil { // none is the operator's own orders
			a.OwnerID = *id
		}
	}
	if less := in.Bool("less"); less != nil {
		a.Less = *less
	}
	switch amount := in.Money("amount"); {
	case amount == nil && !in.Has("amount"):
		in.AddError("amount", jsonbody.MissingMessage)
	case amount == nil:
	case *amount == 0 && a.Kind != AdjustTill:
		in.AddError("amount", "debe ser mayor que cero")
	default:
		a.Amount = *amount
	}
	return a, in.Err()
}

// Adjust writes an entry by hand.
func (s *Service) Adjust(ctx context.Context, caller Caller, a *Adjustment) error {
	return s.inBooks(ctx, caller.Operator, func(tx *db.DB) error {
		amount := a.Amount
		if a.Less {
			amount = -amount
		}
		common := models.Posting{Concept: models.ForAdjustment}
		var postings []models.Posting
		switch a.Kind {
		case AdjustRider:
			if _, err := readDue(ctx, tx, caller.Operator, a.OwnerID); err != nil {
				return err
			}
			common.Method = models.PaidInCash
			postings = models.Transfer(differences, riderPlace(a.OwnerID), amount, common)
		case AdjustStore:
			if err := s.requireStore(ctx, tx, caller.Operator, orNil(a.OwnerID)); err != nil {
				return err
			}
			postings = models.Transfer(models.Place{Account: models.AccountStore, OwnerID: a.OwnerID}, differences, amount, common)
		case Deposit:
			common.Method = models.PaidInCash
			postings = models.Transfer(till, bank, a.Amount, common)
		case AdjustTill:
			var inTill *money.Cents
			err := tx.Query(ctx).Model(&models.Posting{}).Where("operator_id = ? AND account = ?", caller.Operator.ID, models.AccountTill).
				Select("CAST(SUM(amount_cents) AS BIGINT)").Scan(&inTill).Error
			if err != nil {
				return err
			}
			expected := money.Cents(0)
			if inTill != nil {
				expected = *inTill
			}
			common.Concept, common.Method = models.ForDifference, models.PaidInCash
			postings = models.Transfer(differences, till, a.Amount-expected, common)
		}
		if len(postings) == 0 {
			return nil // the count is as it should be
		}
		entry := models.LedgerEntry{ID: uuid.New(), OperatorID: caller.Operator.ID, Kind: models.LedgerAdjustment, UserID: &caller.UserID,
			Reason: &a.Reason, Day: s.today(caller.Operator), At: s.clock.Now(), Postings: postings}
		if err := tx.InsertLedgerEntries(ctx, entry); err != nil {
			return err
		}
		return s.audit(ctx, tx, caller, models.AuditAdjusted, entry.ID)
	})
}

func orNil(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

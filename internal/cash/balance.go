package cash

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/money"
	"despacho/models"
)

// StoreBalance is what an operator owes a store, by how far it is.
type StoreBalance struct {
	// Pending was collected and is still with riders, Unsettled was handed in, less what the store
	// owes, and Unpaid is in settlements that are not paid.
	Pending, Unsettled, Unpaid money.Cents
}

// Total is everything that is owed.
func (b StoreBalance) Total() money.Cents { return b.Pending + b.Unsettled + b.Unpaid }

// Owed is what is owed to a store, since a day.
type Owed struct {
	StoreID   uuid.UUID
	StoreName string
	StoreBalance
	// Since is the date of the oldest money that was handed in and is not paid; empty for none.
	Since string
}

// Balance is what the operator owes a store, or all of them.
func (s *Service) Balance(ctx context.Context, operator *models.Operator, storeID *uuid.UUID) (StoreBalance, error) {
	var sums []struct {
		Account models.Account
		Amount  money.Cents
	}
	query := s.db.Query(ctx).Model(&models.Posting{}).Where("operator_id = ? AND account IN ?", operator.ID, storeAccounts)
	if storeID != nil {
		query = query.Where("owner_id = ?", *storeID)
	}
	err := query.Select("account, CAST(-SUM(amount_cents) AS BIGINT) AS amount").Group("account").Scan(&sums).Error
	var balance StoreBalance
	for _, sum := range sums {
		balance.set(sum.Account, sum.Amount)
	}
	return balance, err
}

var storeAccounts = []models.Account{models.AccountPending, models.AccountStore, models.AccountSettled}

func (b *StoreBalance) set(account models.Account, amount money.Cents) {
	switch account {
	case models.AccountPending:
		b.Pending = amount
	case models.AccountStore:
		b.Unsettled = amount
	case models.AccountSettled:
		b.Unpaid = amount
	}
}

package models_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/money"
	"despacho/models"
)

// balance is what the entries leave in an account, by owner.
func balance(entries []models.LedgerEntry, account models.Account) map[uuid.UUID]money.Cents {
	left := map[uuid.UUID]money.Cents{}
	for _, entry := range entries {
		for _, p := range entry.Postings {
			if p.Account == account {
				if left[p.OwnerID] += p.Amount; left[p.OwnerID] == 0 {
					delete(left, p.OwnerID)
				}
			}
		}
	}
	return left
}

func deliveredOrder() *models.Order {
	store, rider, collected := uuid.New(), uuid.New(), money.Cents(50_00)
	return &models.Order{
		ID: uuid.New(), StoreID: &store, RiderID: &rider, Status: models.StatusDelivered, ShippingCost: 8_00,
		ActualAmountCollected: &collected,
		Collections:           models.Collections{{Method: models.PaidInCash, Amount: 30_00}, {Method: models.PaidByYape, Amount: 20_00}},
		Attempts:              models.Attempts{{Number: 1, Fee: 2_00}},
	}
}

func TestLedgerChange_ofADelivery(t *testing.T) {
	t.Parallel()
	after := deliveredOrder()
	before := *after
	before.Status, before.Collections, before.ActualAmountCollected = models.StatusAssigned, nil, nil
	entries := models.LedgerChange(&before, after)
	require.Len(t, entries, 2)
	require.Equal(t, models.LedgerDelivery, entries[0].Kind)
	require.Equal(t, models.LedgerShipping, entries[1].Kind)
	require.Equal(t, map[uuid.UUID]money.Cents{*after.RiderID: 50_00}, balance(entries, models.AccountRider))
	require.Equal(t, map[uuid.UUID]money.Cents{*after.StoreID: -50_00}, balance(entries, models.AccountPending))
	require.Equal(t, map[uuid.UUID]money.Cents{*after.StoreID: 8_00}, balance(entries, models.AccountStore))
	require.Equal(t, map[uuid.UUID]money.Cents{uuid.Nil: -8_00}, balance(entries, models.AccountIncome))
	for _, entry := range entries {
		var sum money.Cents
		for _, p := range entry.Postings {
			require.Equal(t, after.ID, p.OrderID)
			sum += p.Amount
		}
		require.Zero(t, sum)
	}
	require.Empty(t, models.LedgerChange(after, after))
}

// A correction takes back what was posted and posts what holds; what an undone delivery posted is
// taken back and nothing else.
func TestLedgerChange_takesBackAndPostsAgain(t *testing.T) {
	t.Parallel()
	before := deliveredOrder()
	corrected := *before
	collected := money.Cents(45_00)
	corrected.ActualAmountCollected = &collected
	corrected.Collections = models.Collections{{Method: models.PaidByPlin, Amount: 45_00}}
	entries := models.LedgerChange(before, &corrected)
	require.Len(t, entries, 2)
	require.True(t, entries[0].Reversal)
	require.False(t, entries[1].Reversal)
	require.Equal(t, map[uuid.UUID]money.Cents{*before.RiderID: -5_00}, balance(entries, models.AccountRider))

	undone := *before
	undone.Status = models.StatusAssigned
	back := models.LedgerChange(before, &undone)
	require.Len(t, back, 2)
	posted := models.LedgerChange(&undone, before)
	require.Empty(t, balance(append(back, posted...), models.AccountRider))
	require.Empty(t, balance(append(back, posted...), models.AccountStore))
}

func TestLedgerChange_ofAttemptsAndReturns(t *testing.T) {
	t.Parallel()
	before := deliveredOrder()
	before.Status, before.Collections, before.ActualAmountCollected = models.StatusAssigned, nil, nil
	after := *before
	after.Attempts = append(after.Attempts[:1:1], models.Attempt{Number: 2, Fee: 3_00}, models.Attempt{Number: 3})
	after.ReturnFee = 4_00
	entries := models.LedgerChange(before, &after)
	require.Len(t, entries, 2)
	require.Equal(t, map[uuid.UUID]money.Cents{*after.StoreID: 7_00}, balance(entries, models.AccountStore))
	after.Test = true
	require.Empty(t, models.LedgerChange(before, &after))
}

// What was collected without a way of payment is cash.
func TestCollected(t *testing.T) {
	t.Parallel()
	amount := money.Cents(10_00)
	order := models.Order{ActualAmountCollected: &amount}
	require.Equal(t, models.Collections{{Method: models.PaidInCash, Amount: 10_00}}, order.Collected())
	require.Empty(t, (&models.Order{}).Collected())
}

package cash

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/money"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Day is the money of an operator at the end of a day.
type Day struct {
	Day string
	// Riders carry money now, those who have carried it the longest first.
	Riders []Carrier
	// HandedIn is what was handed in on the day, HandIns counts how often.
	HandedIn []MethodSum
	HandIns  []HandIn
	// Stores are those to whom something is owed now, the oldest first.
	Stores []Owed
	// Till and Bank are the balances now; Income is what the operator earned on the day.
	Till, Bank money.Cents
	Income     []ConceptSum
}

// Carrier is a rider with what was collected and not handed in.
type Carrier struct {
	RiderID uuid.UUID
	Name    string
	Orders  int
	Cash    money.Cents
	Other   money.Cents
	// Since is the date of the oldest of it.
	Since string
}

// Total is everything that the rider carries.
func (c Carrier) Total() money.Cents { return c.Cash + c.Other }

// ConceptSum is an amount by what it is for.
type ConceptSum struct {
	Concept models.Concept
	Amount  money.Cents
}

// Carried is what all riders carry.
func (d *Day) Carried() (sum money.Cents) {
	for _, rider := range d.Riders {
		sum += rider.Total()
	}
	return sum
}

// Owed is what is owed to all stores.
func (d *Day) Owed() (sum money.Cents) {
	for _, store := range d.Stores {
		sum += store.Total()
	}
	return sum
}

// TotalHandedIn is everything that was handed in on the day.
func (d *Day) TotalHandedIn() money.Cents { return sumOf(d.HandedIn) }

// Earned is all income of the day.
func (d *Day) Earned() (sum money.Cents) {
	for _, concept := range d.Income {
		sum += concept.Amount
	}
	return sum
}

// Today reads the money of the operator as it is now, with what moved today.
func (s *Service) Today(ctx context.Context, operator *models.Operator) (*Day, error) {
	now := s.clock.Now().In(operator.TimeZone())
	day := &Day{Day: s.today(operator)}
	var err error
	if day.Riders, err = s.carriers(ctx, operator); err != nil {
		return nil, err
	}
	if day.Stores, err = s.owed(ctx, operator); err != nil {
		return nil, err
	}
	if day.HandIns, err = s.HandInsOf(ctx, operator, nil, clock.DayStart(now, operator.TimeZone())); err != nil {
		return nil, err
	}
	for _, in := range day.HandIns {
		for _, part := range in.ByMethod {
			day.HandedIn = addMethod(day.HandedIn, part)
		}
	}
	if day.Income, err = s.Income(ctx, operator, nil, day.Day, day.Day); err != nil {
		return nil, err
	}
	day.Till, day.Bank, err = s.moneyInHand(ctx, operator)
	return day, err
}

func (s *Service) moneyInHand(ctx context.Context, operator *models.Operator) (inTill, inBank money.Cents, err error) {
	var sums []struct {
		Account models.Account
		Amount  money.Cents
	}
	err = s.db.Query(ctx).Model(&models.Posting{}).
		Where("operator_id = ? AND account IN ?", operator.ID, []models.Account{models.AccountTill, models.AccountBank}).
		Select("account, CAST(SUM(amount_cents) AS BIGINT) AS amount").Group("account").Scan(&sums).Error
	for _, sum := range sums {
		if sum.Account == models.AccountTill {
			inTill = sum.Amount
		} else {
			inBank = sum.Amount
		}
	}
	return inTill, inBank, err
}

// carriers are the riders with money.
func (s *Service) carriers(ctx context.Context, operator *models.Operator) ([]Carrier, error) {
	balances := s.db.Query(ctx).Model(&models.Posting{}).Where("operator_id = ? AND account = ?", operator.ID, models.AccountRider).
		Select("owner_id, order_id, method, SUM(amount_cents) AS amount, MIN(day) AS since").
		Group("owner_id, order_id, method").Having("SUM(amount_cents) <> 0")
	var carriers []Carrier
	err := s.db.Query(ctx).Table("(?) AS balances", balances).Joins("LEFT JOIN riders ON riders.id = balances.owner_id").
		Select("balances.owner_id AS rider_id, riders.name, COUNT(DISTINCT NULLIF(order_id, ?)) AS orders, MIN(since) AS since, "+
			"CAST(SUM(CASE WHEN method = ? THEN amount ELSE 0 END) AS BIGINT) AS cash, "+
			"CAST(SUM(CASE WHEN method = ? THEN 0 ELSE amount END) AS BIGINT) AS other", uuid.Nil, models.PaidInCash, models.PaidInCash).
		Group("balances.owner_id, riders.name").Scan(&carriers).Error
	carriers = slices.DeleteFunc(carriers, func(c Carrier) bool { return c.Cash == 0 && c.Other == 0 })
	slices.SortFunc(carriers, func(a, b Carrier) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(b.Total(), a.Total()), textnorm.Compare(a.Name, b.Name))
	})
	return carriers, err
}

// Outstanding is what all riders have collected and not handed in.
func (s *Service) Outstanding(ctx context.Context, operator *models.Operator) (sum money.Cents, err error) {
	err = s.db.Query(ctx).Model(&models.Posting{}).Where("operator_id = ? AND account = ?", operator.ID, models.AccountRider).
		Select("CAST(COALESCE(SUM(amount_cents), 0) AS BIGINT)").Scan(&sum).Error
	return sum, err
}

// Carried is what a rider has collected and not handed in, in every way.
func (s *Service) Carried(ctx context.Context, operator *models.Operator, rider uuid.UUID) (sum money.Cents, err error) {
	err = s.db.Query(ctx).Model(&models.Posting{}).
		Where("operator_id = ? AND account = ? AND owner_id = ?", operator.ID, models.AccountRider, rider).
		Select("CAST(COALESCE(SUM(amount_cents), 0) AS BIGINT)").Scan(&sum).Error
	return sum, err
}

// owed are the stores to whom something is owed, or who owe something.
func (s *Service) owed(ctx context.Context, operator *models.Operator) ([]Owed, error) {
	var rows []struct {
		StoreID   uuid.UUID
		StoreName string
		Account   models.Account
		Amount    money.Cents
	}
	balances := s.db.Query(ctx).Model(&models.Posting{}).Where("operator_id = ? AND account IN ?", operator.ID, storeAccounts).
		Select("owner_id, account, CAST(-SUM(amount_cents) AS BIGINT) AS amount").Group("owner_id, account").Having("SUM(amount_cents) <> 0")
	err := s.db.Query(ctx).Table("(?) AS balances", balances).Joins("LEFT JOIN stores ON stores.id = balances.owner_id").
		Select("owner_id AS store_id, COALESCE(stores.name, '') AS store_name, account, amount").Order("owner_id").Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	var owed []Owed
	for _, row := range rows {
		if len(owed) == 0 || owed[len(owed)-1].StoreID != row.StoreID {
			owed = append(owed, Owed{StoreID: row.StoreID, StoreName: row.StoreName})
		}
		owed[len(owed)-1].set(row.Account, row.Amount)
	}
	since, err := s.owedSince(ctx, operator)
	for i := range owed {
		owed[i].Since = since[owed[i].StoreID]
	}
	slices.SortFunc(owed, func(a, b Owed) int {
		return cmp.Or(compareSince(a.Since, b.Since), cmp.Compare(b.Total(), a.Total()), textnorm.Compare(a.StoreName, b.StoreName))
	})
	return owed, err
}

// owedSince is, by store, the last day of the oldest settlement that is not paid or, if all are,
// the first day with postings that no settlement has.
func (s *Service) owedSince(ctx context.Context, operator *models.Operator) (map[uuid.UUID]string, error) {
	var days []struct {
		Owner uuid.UUID
		Day   string
	}
	err := s.db.Query(ctx).Raw(`
		SELECT owner_id AS owner, MIN(day) AS day FROM ledger_postings LEFT JOIN (
			SELECT store_id, MAX(period_to) AS period_to FROM settlements WHERE operator_id = ? GROUP BY store_id
		) AS settled ON COALESCE(settled.store_id, ?) = owner_id
		WHERE operator_id = ? AND account = ? AND day > COALESCE(period_to, '') GROUP BY owner_id
		UNION ALL SELECT COALESCE(store_id, ?), MIN(period_to) FROM settlements WHERE operator_id = ? AND status = ? GROUP BY store_id`,
		operator.ID, uuid.Nil, operator.ID, models.AccountStore, uuid.Nil, operator.ID, models.SettlementIssued).Scan(&days).Error
	since := map[uuid.UUID]string{}
	for _, of := range days {
		if known := since[of.Owner]; known == "" || of.Day < known {
			since[of.Owner] = of.Day
		}
	}
	return since, err
}

// compareSince sorts the oldest first, and what is of no day last.
func compareSince(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	return cmp.Compare(a, b)
}

// Income is what the operator earned between two days, both included, by what it is for.
func (s *Service) Income(
	ctx context.Context, operator *models.Operator, storeID *uuid.UUID, from, to string,
) ([]ConceptSum, error) {
	query := s.db.Query(ctx).Model(&models.Posting{}).
		Where("ledger_postings.operator_id = ? AND ledger_postings.day BETWEEN ? AND ?", operator.ID, from, to)
	if storeID == nil {
		query = query.Where("account = ?", models.AccountIncome).Select("concept, CAST(-SUM(amount_cents) AS BIGINT) AS amount")
	} else { // what a store is charged is what the operator earns with it
		query = query.Joins("JOIN ledger_entries ON ledger_entries.id = ledger_postings.entry_id").
			Where("account = ? AND owner_id = ? AND kind IN ?", models.AccountStore, *storeID,
				[]models.LedgerKind{models.LedgerShipping, models.LedgerAttempt, models.LedgerReturn}).
			Select("concept, CAST(SUM(amount_cents) AS BIGINT) AS amount")
	}
	var sums []ConceptSum
	err := query.Group("concept").Having("SUM(amount_cents) <> 0").Order("concept").Scan(&sums).Error
	return sums, err
}

// CollectedBetween is what riders collected between two days, both included, by way of payment.
func (s *Service) CollectedBetween(
	ctx context.Context, operator *models.Operator, storeID *uuid.UUID, from, to string,
) ([]MethodSum, error) {
	query := s.db.Query(ctx).Model(&models.Posting{}).Joins("JOIN ledger_entries ON ledger_entries.id = ledger_postings.entry_id").
		Where("ledger_postings.operator_id = ? AND ledger_postings.day BETWEEN ? AND ? AND account = ? AND kind = ?",
			operator.ID, from, to, models.AccountPending, models.LedgerDelivery)
	if storeID != nil {
		query = query.Where("owner_id = ?", *storeID)
	}
	var sums []MethodSum
	err := query.Select("method, CAST(-SUM(amount_cents) AS BIGINT) AS amount").Group("method").
		Having("SUM(amount_cents) <> 0").Order("method").Scan(&sums).Error
	return sums, err
}

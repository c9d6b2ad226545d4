package chaos

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"despacho/internal/cash"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
)

// place is where the money of an order is in the ledger.
type place struct {
	Account models.Account
	OwnerID uuid.UUID
	Method  models.Method
	Concept models.Concept
}

// checkMoney holds the ledger against the orders: each has posted what its state means, however
// often its moves were sent, and nothing else. Then two cashiers at once have every rider hand in
// everything and settle with every store, which leaves nothing with a rider and nothing owed twice.
func checkMoney(ctx context.Context, c *checker) error {
	database, err := db.Open(ctx, c.databaseURL, db.Options{MaxConns: 4})
	if err != nil {
		return err
	}
	defer database.Close()
	var unbalanced []uuid.UUID
	err = database.Query(ctx).Model(&models.Posting{}).Group("entry_id").Having("SUM(amount_cents) <> 0").Pluck("entry_id", &unbalanced).Error
	if err != nil {
		return err
	}
	for _, entry := range unbalanced {
		c.report.violate(invariantMoney, entry.String(), "the postings of the entry do not sum to zero")
	}
	var orders []models.Order
	if err := database.Query(ctx).Where("operator_id = ?", c.operator.id).Find(&orders).Error; err != nil {
		return err
	}
	for i := range orders {
		if err := c.checkPostings(ctx, database, &orders[i]); err != nil {
			return err
		}
	}
	return c.closeBooks(ctx, database, orders)
}

// checkPostings compares what an order has posted with what its state means.
func (c *checker) checkPostings(ctx context.Context, database *db.DB, order *models.Order) error {
	c.report.checked(invariantMoney, 1)
	left := map[place]money.Cents{}
	for _, entry := range models.LedgerChange(nil, order) {
		for _, p := range entry.Postings {
			left[place{p.Account, p.OwnerID, p.Method, p.Concept}] += p.Amount
		}
	}
	var posted []models.Posting
	err := database.Query(ctx).Select("account, owner_id, method, concept, SUM(amount_cents) AS amount_cents").
		Where("order_id = ?", order.ID).Group("account, owner_id, method, concept").Find(&posted).Error
	for _, p := range posted {
		left[place{p.Account, p.OwnerID, p.Method, p.Concept}] -= p.Amount
	}
	for at, amount := range left {
		if amount != 0 {
			c.report.violate(invariantMoney, order.ID.String(), "%s of %s (%s, %s) lacks %s", at.Account, at.OwnerID, at.Method, at.Concept, amount)
		}
	}
	return err
}

func (c *checker) closeBooks(ctx context.Context, database *db.DB, orders []models.Order) error {
	service, operator := cash.New(database, clock.System()), &models.Operator{}
	if err := database.Query(ctx).Where("id = ?", c.operator.id).Take(operator).Error; err != nil {
		return err
	}
	var cashiers errgroup.Group
	for range 2 {
		caller := cash.Caller{Operator: operator, UserID: uuid.New()}
		cashiers.Go(func() error { return c.handInAll(ctx, service, caller) })
	}
	if err := cashiers.Wait(); err != nil {
		return err
	}
	stores := map[uuid.UUID]money.Cents{}
	for i := range orders {
		for _, entry := range models.LedgerChange(nil, &orders[i]) {
			for _, p := range entry.Postings {
				if p.Account == models.AccountStore || p.Account == models.AccountPending {
					stores[p.OwnerID] -= p.Amount
				}
			}
		}
	}
	to := time.Now().In(operator.TimeZone()).Format(time.DateOnly)
	for store, owed := range stores {
		c.report.checked(invariantMoney, 1)
		draft, err := service.Draft(ctx, operator, &store, to)
		if err != nil {
			return err
		}
		if draft.Net() != owed {
			c.report.violate(invariantMoney, store.String(), "the store is owed %s and would be settled %s", owed, draft.Net())
		}
		var twice errgroup.Group
		for range 2 {
			caller := cash.Caller{Operator: operator, UserID: uuid.New()}
			twice.Go(func() error {
				_, err := service.Issue(ctx, caller, &store, to, draft.Net())
				if errors.Is(err, cash.ErrNothingToSettle) {
					return nil
				}
				return err
			})
		}
		if err := twice.Wait(); err != nil {
			return err
		}
		balance, err := service.Balance(ctx, operator, &store)
		if err != nil {
			return err
		}
		if balance != (cash.StoreBalance{Unpaid: owed}) {
			c.report.violate(invariantMoney, store.String(), "settled %s, and the balance is %+v", owed, balance)
		}
	}
	return nil
}

// handInAll has every rider hand in everything; another cashier does the same meanwhile.
func (c *checker) handInAll(ctx context.Context, service *cash.Service, caller cash.Caller) error {
	for _, rider := range c.operator.riders {
		due, err := service.Due(ctx, caller.Operator, rider)
		if err != nil {
			return err
		}
		request := &cash.HandInRequest{Counted: due.Cash(), Seen: map[cash.DueKey]bool{}}
		for _, line := range due.OtherLines() {
			request.Seen[line.Key()] = true
		}
		_, _, err = service.HandIn(ctx, caller, rider, request)
		if err != nil && !errors.Is(err, cash.ErrNothingDue) && !cash.IsDifference(err) {
			return err
		}
		if due, err = service.Due(ctx, caller.Operator, rider); err != nil {
			return err
		}
		c.report.checked(invariantMoney, 1)
		if due.Total() != 0 || len(due.Lines) != 0 {
			c.report.violate(invariantMoney, rider.String(), "the rider has handed in everything and carries %s", due.Total())
		}
	}
	return nil
}

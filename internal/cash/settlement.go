package cash

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// Settlement is what a store is paid, with its amounts. One that is not issued has no number and
// no status.
type Settlement struct {
	models.Settlement
	StoreName string
	Amounts   `gorm:"-"`
	Lines     []SettlementLine `gorm:"-"`
}

// Amounts are what a store gets for collections, which were handed in, and what it pays for, which
// is positive.
type Amounts struct {
	Collected   money.Cents `json:"collected"`
	Shipping    money.Cents `json:"shipping"`
	Fees        money.Cents `json:"fees"`
	Adjustments money.Cents `json:"adjustments"`
}

// Net is what is left for the store; negative if the store has to pay.
func (a Amounts) Net() money.Cents { return a.Collected - a.Shipping - a.Fees + a.Adjustments }

// Costs is what the store pays for.
func (a Amounts) Costs() money.Cents { return a.Shipping + a.Fees }

func (a *Amounts) add(concept models.Concept, amount money.Cents) {
	switch concept {
	case models.ForCollection:
		a.Collected += amount
	case models.ForShipping:
		a.Shipping -= amount
	case models.ForAttempt, models.ForReturn:
		a.Fees -= amount
	default:
		a.Adjustments += amount
	}
}

func (a *Amounts) plus(b Amounts) {
	a.Collected += b.Collected
	a.Shipping += b.Shipping
	a.Fees += b.Fees
	a.Adjustments += b.Adjustments
}

// SettlementLine is an order of a settlement, or the adjustments of none.
type SettlementLine struct {
	OrderID     uuid.UUID
	GuideCode   string
	ExternalID  *string
	DeliveredAt *time.Time
	Amounts
	// Again means that an earlier settlement has the order too: what this one has was corrected since.
	Again bool
}

// unsettled are the postings on a store's account that no settlement has closed until a day, but
// those of orders whose collection has not been handed in by then.
func unsettled(tx *gorm.DB, operator *models.Operator, store uuid.UUID, to string) *gorm.DB {
	session := tx.Session(&gorm.Session{NewDB: true})
	of := func(account models.Account) *gorm.DB {
		return session.Model(&models.Posting{}).Where("operator_id = ? AND account = ? AND owner_id = ? AND day <= ?",
			operator.ID, account, store, to)
	}
	pending := of(models.AccountPending).Select("order_id").Group("order_id").Having("SUM(amount_cents) <> 0")
	return of(models.AccountStore).Where("order_id NOT IN (?)", pending).
		Group("order_id, concept").Having("SUM(amount_cents) <> 0")
}

// Draft is what a settlement of a store until a day would have.
func (s *Service) Draft(ctx context.Context, operator *models.Operator, storeID *uuid.UUID, to string) (*Settlement, error) {
	draft := &Settlement{Settlement: models.Settlement{OperatorID: operator.ID, StoreID: storeID, PeriodTo: to}}
	if storeID != nil {
		var store models.Store
		err := s.db.Query(ctx).Where("id = ? AND operator_id = ?", *storeID, operator.ID).Take(&store).Error
		if db.IsNotFound(err) {
			return nil, ErrStoreNotFound
		}
		if err != nil {
			return nil, err
		}
		draft.StoreName = store.Name
	}
	var err error
	if draft.PeriodFrom, err = periodFrom(ctx, s.db, operator, draft.owner(), to); err != nil {
		return nil, err
	}
	balances := unsettled(s.db.Query(ctx), operator, draft.owner(), to).Select("order_id, concept, CAST(-SUM(amount_cents) AS BIGINT) AS amount")
	draft.Lines, err = s.lines(ctx, balances, nil)
	for _, line := range draft.Lines {
		draft.plus(line.Amounts)
	}
	return draft, err
}

// owner is the store's id in the ledger.
func (s *Settlement) owner() uuid.UUID {
	if s.StoreID == nil {
		return uuid.Nil
	}
	return *s.StoreID
}

// periodFrom is the first day of a settlement until a day: that after the latest one's last, or
// that of the first posting. A settlement is never until a day before the latest one's.
func periodFrom(ctx context.Context, database *db.DB, operator *models.Operator, store uuid.UUID, to string) (string, error) {
	var last, first *string
	settled := database.Query(ctx).Model(&models.Settlement{}).Where("operator_id = ?", operator.ID)
	if store == uuid.Nil {
		settled = settled.Where("store_id IS NULL")
	} else {
		settled = settled.Where("store_id = ?", store)
	}
	if err := settled.Select("MAX(period_to)").Scan(&last).Error; err != nil {
		return "", err
	}
	if last != nil {
		day, err := time.Parse(time.DateOnly, *last)
		if err != nil {
			return "", err
		}
		if to < *last {
			return "", ErrPeriodClosed
		}
		return min(day.AddDate(0, 0, 1).Format(time.DateOnly), to), nil
	}
	err := database.Query(ctx).Model(&models.Posting{}).
		Where("operator_id = ? AND account = ? AND owner_id = ?", operator.ID, models.AccountStore, store).
		Select("MIN(day)").Scan(&first).Error
	if first == nil {
		return to, err
	}
	return min(*first, to), err
}

// Issue settles what a store is owed until a day, for good. The net amount that the cashier saw
// must still be the same.
func (s *Service) Issue(
	ctx context.Context, caller Caller, storeID *uuid.UUID, to string, seen money.Cents,
) (*Settlement, error) {
	id := uuid.New()
	err := s.inBooks(ctx, caller.Operator, func(tx *db.DB) error {
		settled := Settlement{Settlement: models.Settlement{ID: id, OperatorID: caller.Operator.ID, StoreID: storeID,
			Status: models.SettlementIssued, PeriodTo: to, IssuedBy: caller.UserID, IssuedAt: s.clock.Now()}}
		row, store := &settled.Settlement, settled.owner()
		if err := s.requireStore(ctx, tx, caller.Operator, storeID); err != nil {
			return err
		}
		var err error
		if row.PeriodFrom, err = periodFrom(ctx, tx, caller.Operator, store, to); err != nil {
			return err
		}
		if row.Number, err = nextNumber[models.Settlement](ctx, tx, caller.Operator); err != nil {
			return err
		}
		entry := models.LedgerEntry{ID: uuid.New(), OperatorID: row.OperatorID, Kind: models.LedgerSettlement, SourceID: &id,
			UserID: &caller.UserID, Day: to, At: row.IssuedAt}
		if err := tx.Insert(ctx, row); err != nil {
			return err
		}
		if err := tx.Insert(ctx, &entry); err != nil {
			return err
		}
		net, err := closeStore(ctx, tx, caller.Operator, store, to, &entry)
		if err != nil {
			return err
		}
		if net != seen {
			return ErrAmountsChanged
		}
		if err := s.announce(ctx, tx, caller.Operator, id, models.EventSettlementIssued); err != nil {
			return err
		}
		return s.audit(ctx, tx, caller, models.AuditSettlementIssued, id)
	})
	if err != nil {
		return nil, err
	}
	return s.FindSettlement(ctx, caller.Operator, nil, id)
}

func (s *Service) requireStore(ctx context.Context, tx *db.DB, operator *models.Operator, storeID *uuid.UUID) error {
	if storeID == nil {
		return nil
	}
	err := tx.Query(ctx).Select("id").Where("id = ? AND operator_id = ?", *storeID, operator.ID).Take(&models.Store{}).Error
	if db.IsNotFound(err) {
		return ErrStoreNotFound
	}
	return err
}

// closeStore posts what is unsettled from a store's account to what is settled and not paid, in one
// statement however many orders there are, and returns the sum.
func closeStore(
	ctx context.Context, tx *db.DB, operator *models.Operator, store uuid.UUID, to string, entry *models.LedgerEntry,
) (net money.Cents, err error) {
	closing := unsettled(tx.Query(ctx), operator, store, to).Select("? AS entry_id, ? AS operator_id, ? AS account, ? AS owner_id, order_id, "+
		"'' AS method, concept, ? AS day, CAST(-SUM(amount_cents) AS BIGINT) AS amount_cents",
		entry.ID, operator.ID, models.AccountStore, store, to)
	written := tx.Query(ctx).Exec(`INSERT INTO ledger_postings
		(entry_id, operator_id, account, owner_id, order_id, method, concept, day, amount_cents) ?`, closing)
	if written.Error != nil {
		return 0, written.Error
	}
	if written.RowsAffected == 0 {
		return 0, ErrNothingToSettle
	}
	err = tx.Query(ctx).Model(&models.Posting{}).Where("entry_id = ?", entry.ID).
		Select("CAST(SUM(amount_cents) AS BIGINT)").Scan(&net).Error
	if err != nil || net == 0 {
		return net, err
	}
	settled := models.Posting{EntryID: entry.ID, OperatorID: operator.ID, Account: models.AccountSettled, OwnerID: store,
		Concept: models.ForPayment, Day: to, Amount: -net}
	return net, tx.Insert(ctx, &settled)
}

// Payment is how a settlement was paid.
type Payment struct {
	From      models.Account
	Reference *string
}

// ReadPayment reads how a settlement was paid.
func ReadPayment(in *jsonbody.Object) (*Payment, error) {
	payment := &Payment{Reference: in.Text("reference", models.MaxReference)}
	if from := in.Enum("paid_from", string(models.AccountTill), string(models.AccountBank)); from != nil {
		payment.From = models.Account(*from)
	} else if !in.Has("paid_from") {
		in.AddError("paid_from", jsonbody.MissingMessage)
	}
	if payment.From == models.AccountBank && payment.Reference == nil {
		in.AddError("reference", "es obligatorio si se pagó desde el banco")
	}
	return payment, in.Err()
}

// Pay writes that a settlement was paid, or, if its amount is negative, that the store has paid.
func (s *Service) Pay(ctx context.Context, caller Caller, id uuid.UUID, payment *Payment) (*Settlement, error) {
	err := s.inBooks(ctx, caller.Operator, func(tx *db.DB) error {
		settled, err := s.findSettlement(ctx, tx, caller.Operator, nil, id)
		if err != nil {
			return err
		}
		if settled.Status == models.SettlementPaid {
			return ErrAlreadyPaid
		}
		now := s.clock.Now()
		row := models.Settlement{Status: models.SettlementPaid, PaidBy: &caller.UserID, PaidAt: &now, PaidFrom: &payment.From,
			Reference: payment.Reference}
		paid := tx.Query(ctx).Model(&models.Settlement{}).Where("id = ?", id).
			Select("status", "paid_by", "paid_at", "paid_from", "reference").UpdateColumns(&row)
		if err := db.RequireOneRow(paid); err != nil {
			return err
		}
		entry := models.LedgerEntry{OperatorID: caller.Operator.ID, Kind: models.LedgerPayment, SourceID: &id, UserID: &caller.UserID,
			Day: s.today(caller.Operator), At: now, Postings: models.Transfer(models.Place{Account: payment.From},
				models.Place{Account: models.AccountSettled, OwnerID: settled.owner()}, settled.Net(), models.Posting{Concept: models.ForPayment})}
		if len(entry.Postings) > 0 {
			if err := tx.InsertLedgerEntries(ctx, entry); err != nil {
				return err
			}
		}
		if err := s.announce(ctx, tx, caller.Operator, id, models.EventSettlementPaid); err != nil {
			return err
		}
		return s.audit(ctx, tx, caller, models.AuditSettlementPaid, id)
	})
	if err != nil {
		return nil, err
	}
	return s.FindSettlement(ctx, caller.Operator, nil, id)
}

// FindSettlement reads a settlement with its lines; of a store only its own.
func (s *Service) FindSettlement(
	ctx context.Context, operator *models.Operator, storeID *uuid.UUID, id uuid.UUID,
) (*Settlement, error) {
	found, err := s.findSettlement(ctx, s.db, operator, storeID, id)
	if err != nil {
		return nil, err
	}
	entries := s.db.Query(ctx).Model(&models.LedgerEntry{}).Select("id").Where("source_id = ? AND kind = ?", id, models.LedgerSettlement)
	balances := s.db.Query(ctx).Model(&models.Posting{}).Where("entry_id IN (?) AND account = ?", entries, models.AccountStore).
		Select("order_id, concept, amount_cents AS amount")
	found.Lines, err = s.lines(ctx, balances, &found.Settlement)
	return found, err
}

func (s *Service) findSettlement(
	ctx context.Context, database *db.DB, operator *models.Operator, storeID *uuid.UUID, id uuid.UUID,
) (*Settlement, error) {
	found, err := settlements(ctx, database, operator, storeID, func(query *gorm.DB) *gorm.DB { return query.Where("settlements.id = ?", id) })
	if err == nil && len(found) == 0 {
		err = ErrSettlementNotFound
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// Settlements lists settlements, of one store or of all, the latest first, and whether there are
// more.
func (s *Service) Settlements(
	ctx context.Context, operator *models.Operator, storeID *uuid.UUID, limit, offset int,
) (list []Settlement, more bool, err error) {
	list, err = settlements(ctx, s.db, operator, storeID, func(query *gorm.DB) *gorm.DB { return query.Limit(limit + 1).Offset(offset) })
	if len(list) > limit {
		return list[:limit], true, err
	}
	return list, false, err
}

// CountSettlements counts the settlements of one store or of all.
func (s *Service) CountSettlements(ctx context.Context, operator *models.Operator, storeID *uuid.UUID) (count int64, err error) {
	err = settlementsOf(ctx, s.db, operator, storeID).Count(&count).Error
	return count, err
}

func settlementsOf(ctx context.Context, database *db.DB, operator *models.Operator, storeID *uuid.UUID) *gorm.DB {
	query := database.Query(ctx).Table("settlements").Where("settlements.operator_id = ?", operator.ID)
	if storeID != nil {
		query = query.Where("settlements.store_id = ?", *storeID)
	}
	return query
}

func settlements(
	ctx context.Context, database *db.DB, operator *models.Operator, storeID *uuid.UUID, which func(*gorm.DB) *gorm.DB,
) ([]Settlement, error) {
	var found []Settlement
	err := which(settlementsOf(ctx, database, operator, storeID).Joins("LEFT JOIN stores ON stores.id = settlements.store_id").
		Select("settlements.*, COALESCE(stores.name, '') AS store_name").
		Order("settlements.number DESC")).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return nil, err
	}
	at := map[uuid.UUID]*Settlement{}
	ids := make([]uuid.UUID, len(found))
	for i := range found {
		ids[i], at[found[i].ID] = found[i].ID, &found[i]
	}
	var sums []struct {
		SourceID uuid.UUID
		Concept  models.Concept
		Amount   money.Cents
	}
	err = database.Query(ctx).Model(&models.Posting{}).Joins("JOIN ledger_entries ON ledger_entries.id = ledger_postings.entry_id").
		Where("ledger_entries.source_id IN ? AND ledger_entries.kind = ? AND account = ?", ids, models.LedgerSettlement, models.AccountStore).
		Select("ledger_entries.source_id, concept, CAST(SUM(amount_cents) AS BIGINT) AS amount").
		Group("ledger_entries.source_id, concept").Scan(&sums).Error
	for _, sum := range sums {
		at[sum.SourceID].add(sum.Concept, sum.Amount)
	}
	return found, err
}

// lines are the orders of balances, by delivery. Those of a settlement were corrected since an
// earlier one if that one has them too; those of a draft, if any has.
func (s *Service) lines(ctx context.Context, balances *gorm.DB, of *models.Settlement) ([]SettlementLine, error) {
	var rows []struct {
		OrderID     uuid.UUID
		Concept     models.Concept
		Amount      money.Cents
		GuideCode   string
		ExternalID  *string
		DeliveredAt *time.Time
		Again       bool
	}
	earlier := s.db.Query(ctx).Table("ledger_postings AS p").Joins("JOIN ledger_entries AS e ON e.id = p.entry_id").
		Joins("JOIN settlements AS s ON s.id = e.source_id").
		Where("p.order_id = balances.order_id AND p.account = ? AND e.kind = ?", models.AccountStore, models.LedgerSettlement).Select("1")
	if of != nil {
		earlier = earlier.Where("s.number < ?", of.Number)
	}
	err := s.db.Query(ctx).Table("(?) AS balances", balances).Joins("LEFT JOIN orders ON orders.id = balances.order_id").
		Select("balances.order_id, balances.concept, balances.amount, COALESCE(orders.guide_code, '') AS guide_code, orders.external_id, "+
			"orders.delivered_at, EXISTS (?) AS again", earlier).
		Order("orders.delivered_at, balances.order_id, balances.concept").Scan(&rows).Error
	var lines []SettlementLine
	for _, row := range rows {
		if len(lines) == 0 || lines[len(lines)-1].OrderID != row.OrderID {
			lines = append(lines, SettlementLine{OrderID: row.OrderID, GuideCode: row.GuideCode, ExternalID: row.ExternalID,
				DeliveredAt: row.DeliveredAt, Again: row.Again && row.OrderID != uuid.Nil})
		}
		lines[len(lines)-1].add(row.Concept, row.Amount)
	}
	return lines, err
}

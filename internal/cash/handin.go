package cash

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// HandInRequest is what a cashier has counted and compared.
type HandInRequest struct {
	// OnAccount means that the rider hands in some cash and goes on: nothing is closed.
	OnAccount bool
	Counted   money.Cents
	// Seen are the payments in other ways that the operator's bank or wallet shows.
	Seen map[DueKey]bool
	// Expected is the cash that the cashier was shown after counting, nil before.
	Expected *money.Cents
	// BorneBy says who bears a difference, and Reason why there is one.
	BorneBy models.BorneBy
	Reason  string
}

// DueKey names a line of what a rider has to hand in.
type DueKey struct {
	OrderID uuid.UUID
	Method  models.Method
}

// Key names the line.
func (l DueLine) Key() DueKey { return DueKey{l.OrderID, l.Method} }

const maxReason = 255

// ReadHandIn reads what a cashier sends.
func ReadHandIn(in *jsonbody.Object) (*HandInRequest, error) {
	request := &HandInRequest{Expected: in.Money("expected"), Seen: map[DueKey]bool{}}
	if flag := in.Bool("on_account"); flag != nil {
		request.OnAccount = *flag
	}
	if counted := in.Money("counted"); counted != nil {
		request.Counted = *counted
	} else if !in.Has("counted") {
		in.AddError("counted", jsonbody.MissingMessage)
	}
	if request.OnAccount && in.Has("counted") && request.Counted == 0 {
		in.AddError("counted", "debe ser mayor que cero")
	}
	for _, word := range in.TextList("payments") {
		key, valid := parseDueKey(word)
		if !valid {
			in.AddError("payments", "tiene un pago desconocido")
			break
		}
		request.Seen[key] = true
	}
	if by := in.Enum("borne_by", string(models.BorneByRider), string(models.BorneByOperator)); by != nil {
		request.BorneBy = models.BorneBy(*by)
		request.Reason = in.RequiredLines("reason", maxReason)
	}
	return request, in.Err()
}

// String is how a form names the line.
func (k DueKey) String() string { return k.OrderID.String() + "." + string(k.Method) }

func parseDueKey(word string) (key DueKey, valid bool) {
	const length = len("00000000-0000-0000-0000-000000000000")
	if len(word) <= length || word[length] != '.' {
		return key, false
	}
	key.OrderID, valid = jsonbody.ParseUUID(word[:length])
	key.Method = models.Method(word[length+1:])
	return key, valid
}

// Difference is what a cashier has counted against what the ledger expects in cash.
type Difference struct{ Counted, Expected money.Cents }

// Amount is positive if there is too much.
func (d Difference) Amount() money.Cents { return d.Counted - d.Expected }

// Absolute is the difference without its sign.
func (d Difference) Absolute() money.Cents { return max(d.Amount(), -d.Amount()) }

// errDifference is a count that differs and that nobody has explained. Nothing is written.
var errDifference = apperror.New(apperror.Conflict, "cash_differs", "Lo contado no es lo que el motorizado debe rendir.")

// IsDifference reports whether nothing was written because the cash differs.
func IsDifference(err error) bool { return apperror.From(err) == errDifference }

// HandIn writes that a rider hands in money. The cashier counts first: a count that differs writes
// nothing and returns the difference, and is sent again with who bears it and why. A difference
// that the rider bears stays with the rider, for the next time.
func (s *Service) HandIn(
	ctx context.Context, caller Caller, riderID uuid.UUID, request *HandInRequest,
) (written *HandIn, difference *Difference, err error) {
	id := uuid.New()
	err = s.inBooks(ctx, caller.Operator, func(tx *db.DB) error {
		due, err := lockDue(ctx, tx, caller.Operator, riderID)
		if err != nil {
			return err
		}
		row := models.HandIn{ID: id, OperatorID: caller.Operator.ID, RiderID: riderID, OnAccount: request.OnAccount, UserID: caller.UserID,
			At: s.clock.Now()}
		entry := &models.LedgerEntry{OperatorID: row.OperatorID, Kind: models.LedgerHandIn, SourceID: &id, UserID: &caller.UserID,
			Day: s.today(caller.Operator), At: row.At}
		if request.OnAccount {
			entry.Postings = models.Transfer(riderPlace(riderID), till, request.Counted, models.Posting{Method: models.PaidInCash,
				Concept: models.ForCollection})
		} else if difference, err = closeRider(due, request, &row, entry); err != nil {
			return err
		}
		if row.Number, err = nextNumber[models.HandIn](ctx, tx, caller.Operator); err != nil {
			return err
		}
		if err := tx.Insert(ctx, &row); err != nil {
			return err
		}
		if len(entry.Postings) > 0 {
			if err := tx.InsertLedgerEntries(ctx, *entry); err != nil {
				return err
			}
		}
		return s.audit(ctx, tx, caller, models.AuditHandedIn, id)
	})
	if err != nil {
		return nil, difference, err
	}
	written, err = s.FindHandIn(ctx, caller.Operator, id)
	return written, nil, err
}

var (
	till        = models.Place{Account: models.AccountTill}
	bank        = models.Place{Account: models.AccountBank}
	differences = models.Place{Account: models.AccountDifferences}
)

func riderPlace(id uuid.UUID) models.Place {
	return models.Place{Account: models.AccountRider, OwnerID: id}
}

// lockDue reads what a rider has to hand in and locks its orders, so that none of them is corrected
// or undone meanwhile.
func lockDue(ctx context.Context, tx *db.DB, operator *models.Operator, riderID uuid.UUID) (*Due, error) {
	due, err := readDue(ctx, tx, operator, riderID)
	if err != nil || len(due.Lines) == 0 {
		return due, err
	}
	ids := make([]uuid.UUID, len(due.Lines))
	for i, line := range due.Lines {
		ids[i] = line.OrderID
	}
	var locked []models.Order
	if err := tx.QueryForUpdate(ctx).Select("id").Where("id IN ?", ids).Order("id").Find(&locked).Error; err != nil {
		return nil, err
	}
	again, err := readDue(ctx, tx, operator, riderID)
	if err != nil {
		return nil, err
	}
	held := map[uuid.UUID]bool{}
	for _, order := range locked {
		held[order.ID] = true
	}
	for _, line := range again.Lines {
		if !held[line.OrderID] {
			return nil, ErrAmountsChanged // delivered in this moment
		}
	}
	return again, nil
}

// closeRider posts all cash of a rider and the other payments that were seen.
func closeRider(due *Due, request *HandInRequest, row *models.HandIn, entry *models.LedgerEntry) (*Difference, error) {
	count := Difference{Counted: request.Counted, Expected: due.Cash()}
	switch differs := count.Amount() != 0; {
	case request.Expected != nil && *request.Expected != max(count.Expected, 0):
		return &count, ErrAmountsChanged
	case differs && request.BorneBy == "":
		return &count, errDifference
	case differs:
		row.BorneBy, row.Reason = &request.BorneBy, &request.Reason
	}
	rider := riderPlace(due.Rider.ID)
	for _, line := range due.Lines {
		to := till
		if line.Method != models.PaidInCash {
			if to = bank; !request.Seen[line.Key()] {
				continue
			}
		}
		common := models.Posting{OrderID: line.OrderID, Method: line.Method, Concept: models.ForCollection}
		entry.Postings = append(entry.Postings, models.Transfer(rider, to, line.Amount, common)...)
		var store uuid.UUID
		if line.StoreID != nil {
			store = *line.StoreID
		}
		entry.Postings = append(entry.Postings, models.Transfer(models.Place{Account: models.AccountStore, OwnerID: store},
			models.Place{Account: models.AccountPending, OwnerID: store}, line.Amount, common)...)
	}
	entry.Postings = append(entry.Postings, models.Transfer(rider, till, due.Carried,
		models.Posting{Method: models.PaidInCash, Concept: models.ForCollection})...)
	bearer := differences
	if request.BorneBy == models.BorneByRider {
		bearer = rider
	}
	entry.Postings = append(entry.Postings, models.Transfer(bearer, till, count.Amount(),
		models.Posting{Method: models.PaidInCash, Concept: models.ForDifference})...)
	if len(entry.Postings) == 0 {
		return nil, ErrNothingDue
	}
	return nil, nil
}

// HandIn is a hand-in with its amounts.
type HandIn struct {
	models.HandIn
	RiderName, UserName string
	// ByMethod is what was handed in by way of payment, Difference what was too much or, if negative,
	// too little in cash.
	ByMethod   []MethodSum `gorm:"-"`
	Difference money.Cents `gorm:"-"`
	// Lines are the orders whose collections it has; only of one hand-in.
	Lines []DueLine `gorm:"-"`
}

// MethodSum is an amount by way of payment.
type MethodSum struct {
	Method models.Method
	Amount money.Cents
}

// Total is everything that was handed in.
func (h *HandIn) Total() money.Cents { return sumOf(h.ByMethod) }

func sumOf(methods []MethodSum) (sum money.Cents) {
	for _, method := range methods {
		sum += method.Amount
	}
	return sum
}

// FindHandIn reads a hand-in of the operator.
func (s *Service) FindHandIn(ctx context.Context, operator *models.Operator, id uuid.UUID) (*HandIn, error) {
	found, err := s.handIns(ctx, operator, "hand_ins.id = ?", id)
	if err == nil && len(found) == 0 {
		err = ErrHandInNotFound
	}
	if err != nil {
		return nil, err
	}
	entries := s.db.Query(ctx).Model(&models.LedgerEntry{}).Select("id").Where("source_id = ? AND kind = ?", id, models.LedgerHandIn)
	handedIn := s.db.Query(ctx).Model(&models.Posting{}).
		Where("entry_id IN (?) AND account = ? AND order_id <> ?", entries, models.AccountRider, uuid.Nil).
		Select("order_id, method, -amount_cents AS amount")
	found[0].Lines, err = dueLines(ctx, s.db, handedIn)
	return &found[0], err
}

// maxHandIns bounds a list of hand-ins.
const maxHandIns = 500

// HandInsOf are the hand-ins since a time, of a rider or of all, the latest first.
func (s *Service) HandInsOf(ctx context.Context, operator *models.Operator, riderID *uuid.UUID, since time.Time) ([]HandIn, error) {
	if riderID == nil {
		return s.handIns(ctx, operator, "hand_ins.at >= ?", since)
	}
	return s.handIns(ctx, operator, "hand_ins.at >= ? AND hand_ins.rider_id = ?", since, *riderID)
}

func (s *Service) handIns(ctx context.Context, operator *models.Operator, where string, values ...any) ([]HandIn, error) {
	var found []HandIn
	err := s.db.Query(ctx).Table("hand_ins").Where("hand_ins.operator_id = ?", operator.ID).Where(where, values...).
		Joins("LEFT JOIN riders ON riders.id = hand_ins.rider_id").Joins("LEFT JOIN users ON users.id = hand_ins.user_id").
		Select("hand_ins.*, riders.name AS rider_name, users.name AS user_name").
		Order("hand_ins.number DESC").Limit(maxHandIns).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return nil, err
	}
	at := map[uuid.UUID]*HandIn{}
	ids := make([]uuid.UUID, len(found))
	for i := range found {
		ids[i], at[found[i].ID] = found[i].ID, &found[i]
	}
	var sums []struct {
		SourceID uuid.UUID
		Concept  models.Concept
		MethodSum
	}
	err = s.db.Query(ctx).Model(&models.Posting{}).Joins("JOIN ledger_entries ON ledger_entries.id = ledger_postings.entry_id").
		Where("ledger_entries.source_id IN ? AND ledger_postings.account IN ?", ids,
			[]models.Account{models.AccountTill, models.AccountBank}).
		Select("ledger_entries.source_id, concept, method, CAST(SUM(amount_cents) AS BIGINT) AS amount").
		Group("ledger_entries.source_id, concept, method").Order("method").Scan(&sums).Error
	for _, sum := range sums {
		of := at[sum.SourceID]
		of.ByMethod = addMethod(of.ByMethod, sum.MethodSum)
		if sum.Concept == models.ForDifference {
			of.Difference += sum.Amount
		}
	}
	return found, err
}

// addMethod adds an amount to that of its way of payment.
func addMethod(methods []MethodSum, part MethodSum) []MethodSum {
	for i := range methods {
		if methods[i].Method == part.Method {
			methods[i].Amount += part.Amount
			return methods
		}
	}
	return append(methods, part)
}

package cash

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
)

// Due is what a rider has to hand in.
type Due struct {
	Rider models.Rider
	// Lines are of orders; Carried is in cash and of none: what is left from before, or, if negative,
	// what was handed in on account.
	Lines   []DueLine
	Carried money.Cents
}

// DueLine is what a rider has collected for an order by a way of payment and not handed in.
type DueLine struct {
	OrderID   uuid.UUID
	Method    models.Method
	Amount    money.Cents
	GuideCode string
	StoreID   *uuid.UUID
	StoreName *string
	// Collections of the order have the numbers of the operations.
	Collections models.Collections `gorm:"type:text"`
	DeliveredAt *time.Time
}

// References are the numbers of the operations, as the recipient's bank gave them.
func (l DueLine) References() string {
	var references []string
	for _, c := range l.Collections {
		if c.Method == l.Method && c.Reference != nil {
			references = append(references, *c.Reference)
		}
	}
	return strings.Join(references, ", ")
}

// Cash is how much money the rider has to put on the table.
func (d *Due) Cash() money.Cents { return d.Carried + d.of(true) }

// Other is what the rider collected in other ways.
func (d *Due) Other() money.Cents { return d.of(false) }

// Total is everything.
func (d *Due) Total() money.Cents { return d.Cash() + d.Other() }

func (d *Due) of(cash bool) (sum money.Cents) {
	for _, line := range d.Lines {
		if (line.Method == models.PaidInCash) == cash {
			sum += line.Amount
		}
	}
	return sum
}

// OtherLines are the lines in other ways than cash, each to be compared with the bank's.
func (d *Due) OtherLines() (lines []DueLine) {
	for _, line := range d.Lines {
		if line.Method != models.PaidInCash {
			lines = append(lines, line)
		}
	}
	return lines
}

// Due reads what a rider of the operator has to hand in.
func (s *Service) Due(ctx context.Context, operator *models.Operator, riderID uuid.UUID) (*Due, error) {
	return readDue(ctx, s.db, operator, riderID)
}

func readDue(ctx context.Context, database *db.DB, operator *models.Operator, riderID uuid.UUID) (*Due, error) {
	due := &Due{}
	err := database.Query(ctx).Where("id = ? AND operator_id = ? AND NOT test", riderID, operator.ID).Take(&due.Rider).Error
	if db.IsNotFound(err) {
		return nil, ErrRiderNotFound
	}
	if err != nil {
		return nil, err
	}
	balances := database.Query(ctx).Model(&models.Posting{}).
		Where("operator_id = ? AND account = ? AND owner_id = ?", operator.ID, models.AccountRider, riderID).
		Select("order_id, method, CAST(SUM(amount_cents) AS BIGINT) AS amount").Group("order_id, method").Having("SUM(amount_cents) <> 0")
	lines, err := dueLines(ctx, database, balances)
	for _, line := range lines {
		if line.OrderID == uuid.Nil {
			due.Carried += line.Amount
		} else {
			due.Lines = append(due.Lines, line)
		}
	}
	return due, err
}

// dueLines are amounts by order and way of payment with what they are for, by delivery.
func dueLines(ctx context.Context, database *db.DB, balances *gorm.DB) (lines []DueLine, err error) {
	err = database.Query(ctx).Table("(?) AS balances", balances).
		Joins("LEFT JOIN orders ON orders.id = balances.order_id").Joins("LEFT JOIN stores ON stores.id = orders.store_id").
		Select("balances.order_id, balances.method, balances.amount, COALESCE(orders.guide_code, '') AS guide_code, orders.store_id, " +
			"stores.name AS store_name, orders.collections, orders.delivered_at").
		Order("orders.delivered_at, balances.order_id, balances.method").Scan(&lines).Error
	return lines, err
}

// Account is what a rider sees of their own money.
type Account struct {
	// ByMethod is what is to be handed in, by way of payment; HandIns are today's.
	ByMethod []MethodSum
	HandIns  []HandIn
}

// Total is everything that is to be handed in.
func (a *Account) Total() money.Cents { return sumOf(a.ByMethod) }

// AccountOf reads what a rider has to hand in and has handed in today.
func (s *Service) AccountOf(ctx context.Context, operator *models.Operator, riderID uuid.UUID) (*Account, error) {
	account := &Account{}
	err := s.db.Query(ctx).Model(&models.Posting{}).
		Where("operator_id = ? AND account = ? AND owner_id = ?", operator.ID, models.AccountRider, riderID).
		Select("method, CAST(SUM(amount_cents) AS BIGINT) AS amount").Group("method").Having("SUM(amount_cents) <> 0").
		Order("method").Scan(&account.ByMethod).Error
	if err != nil {
		return nil, err
	}
	zone := operator.TimeZone()
	account.HandIns, err = s.HandInsOf(ctx, operator, &riderID, clock.DayStart(s.clock.Now().In(zone), zone))
	return account, err
}

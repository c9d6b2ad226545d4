package cash

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/internal/webhooks"
	"despacho/models"
)

// View is a settlement as the API and the receivers of its events see it.
type View struct {
	ID         uuid.UUID               `json:"id"`
	Number     int                     `json:"number"`
	Status     models.SettlementStatus `json:"status"`
	StoreID    *uuid.UUID              `json:"store_id"`
	PeriodFrom string                  `json:"period_from"`
	PeriodTo   string                  `json:"period_to"`
	Amounts
	Net       money.Cents `json:"net"`
	Currency  string      `json:"currency"`
	IssuedAt  time.Time   `json:"issued_at"`
	PaidAt    *time.Time  `json:"paid_at"`
	Reference *string     `json:"reference"`
}

// LineView is an order of a settlement as the API shows it. What is of no order has neither id nor
// guide code.
type LineView struct {
	OrderID     *uuid.UUID `json:"order_id"`
	ExternalID  *string    `json:"external_id"`
	GuideCode   *string    `json:"guide_code"`
	DeliveredAt *time.Time `json:"delivered_at"`
	Amounts
	Net       money.Cents `json:"net"`
	Corrected bool        `json:"corrected"`
}

// View renders the settlement of an operator without its lines.
func (s *Settlement) View(operator *models.Operator) View {
	return View{
		ID: s.ID, Number: s.Number, Status: s.Status, StoreID: s.StoreID, PeriodFrom: s.PeriodFrom, PeriodTo: s.PeriodTo,
		Amounts: s.Amounts, Net: s.Net(), Currency: operator.Currency, IssuedAt: s.IssuedAt.UTC(), PaidAt: inUTC(s.PaidAt),
		Reference: s.Reference,
	}
}

// View renders the line.
func (l *SettlementLine) View() LineView {
	view := LineView{ExternalID: l.ExternalID, DeliveredAt: inUTC(l.DeliveredAt), Amounts: l.Amounts, Net: l.Net(), Corrected: l.Again}
	if l.OrderID != uuid.Nil {
		view.OrderID, view.GuideCode = &l.OrderID, &l.GuideCode
	}
	return view
}

// BalanceView is what an operator owes a store as the API shows it.
type BalanceView struct {
	Pending   money.Cents `json:"pending"`
	Unsettled money.Cents `json:"unsettled"`
	Unpaid    money.Cents `json:"unpaid"`
	Total     money.Cents `json:"total"`
	Currency  string      `json:"currency"`
}

// View renders the balance.
func (b StoreBalance) View(operator *models.Operator) BalanceView {
	return BalanceView{Pending: b.Pending, Unsettled: b.Unsettled, Unpaid: b.Unpaid, Total: b.Total(), Currency: operator.Currency}
}

func inUTC(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	utc := at.UTC()
	return &utc
}

// announce queues an event of a settlement as it is now, in the transaction that changes it.
func (s *Service) announce(ctx context.Context, tx *db.DB, operator *models.Operator, id uuid.UUID, event models.Event) error {
	settled, err := s.findSettlement(ctx, tx, operator, nil, id)
	if err != nil {
		return err
	}
	return webhooks.Announce(ctx, tx, webhooks.Announcement{OperatorID: operator.ID, StoreID: settled.StoreID, Event: event,
		Data: settled.View(operator), At: s.clock.Now()})
}

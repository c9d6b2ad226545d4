package orders

import (
	"context"
	"time"

	"gorm.io/gorm"

	"despacho/internal/money"
	"despacho/internal/webhooks"
	"despacho/models"
)

// Today is what waits for somebody now, and what was done today, among the orders that the caller
// may see. Every count is the total of the list with the same Query.
type Today struct {
	// Day is today in the operator's time zone.
	Day time.Time
	// ToReceive counts registered orders, ToAssign received ones. OldestToAssign is when the first of
	// those was received; nil if there is none.
	ToReceive, ToAssign int64
	OldestToAssign      *time.Time
	// OutSinceYesterday, Expiring and AmountDiffers count the orders of the queries of these names,
	// the last one those that were delivered from DiffersFrom on.
	OutSinceYesterday, Expiring, AmountDiffers int64
	DiffersFrom                                time.Time
	// Undecided, DueToday, NotLoaded and Returning count those with a failed attempt about which
	// nobody has decided, those whose next attempt is planned for today or before, those that their
	// rider, who has a phone, has not confirmed to have, and those on the way back to their store.
	Undecided, DueToday, NotLoaded, Returning int64
	// Delivered counts the orders delivered today, Collected is what was collected for them.
	Delivered int64
	Collected money.Cents
	// FailingWebhooks is the number of webhooks that webhooks.Failing lists.
	FailingWebhooks int
}

// IsQuiet reports whether nothing waits and nothing was delivered today.
func (t *Today) IsQuiet() bool {
	return t.ToReceive+t.ToAssign+t.OutSinceYesterday+t.Expiring+t.AmountDiffers+t.Undecided+t.DueToday+t.NotLoaded+t.Returning+
		t.Delivered == 0
}

// UndecidedSubstatuses are those of an order about which somebody has to decide.
var UndecidedSubstatuses = []models.Substatus{models.SubstatusAttemptFailed, models.SubstatusAwaitingDecision}

// ExpiringWithin is how soon an order cancels itself that Query.Expiring selects.
const ExpiringWithin = 2 * time.Hour

// differingDays is how many days of deliveries, today included, are looked through for amounts that
// differ.
const differingDays = 7

// Today reads what the panel's first page shows, in four statements.
func (s *Service) Today(ctx context.Context, caller Caller) (*Today, error) {
	local := s.clock.Now().In(caller.Operator.TimeZone())
	day := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	today := &Today{Day: day, DiffersFrom: day.AddDate(0, 0, 1-differingDays)}
	counts, err := s.countByStatus(ctx, caller, Query{}, orderFilter{})
	if err != nil {
		return nil, err
	}
	today.ToReceive, today.ToAssign = counts[models.StatusRegistered], counts[models.StatusReceived]
	if today.ToAssign > 0 {
		if today.OldestToAssign, err = s.oldestToAssign(ctx, caller); err != nil {
			return nil, err
		}
	}
	if err := s.countToday(ctx, caller, today); err != nil {
		return nil, err
	}
	failing, err := webhooks.Failing(ctx, s.db, caller.Scope(), s.clock.Now())
	today.FailingWebhooks = len(failing)
	return today, err
}

// oldestToAssign is when the first of the orders was received that wait for a rider.
func (s *Service) oldestToAssign(ctx context.Context, caller Caller) (*time.Time, error) {
	var received []time.Time
	err := caller.Scope().Orders(s.db.Query(ctx).Table("orders")).Where("orders.status = ?", models.StatusReceived).
		Order("orders.received_at").Limit(1).Pluck("orders.received_at", &received).Error
	if err != nil || len(received) == 0 {
		return nil, err
	}
	return utc(&received[0]), nil
}

// countToday counts what has no totals, in one statement.
func (s *Service) countToday(ctx context.Context, caller Caller, today *Today) error {
	delivered := Query{Status: models.StatusDelivered, ByDelivery: true, From: &today.Day, To: &today.Day}
	selected := func(query Query, columns string) (*gorm.DB, error) {
		filter, err := s.filter(ctx, caller, query)
		return filter.withStatus(caller.Scope().Orders(s.db.Query(ctx).Table("orders"))).Select(columns), err
	}
	var figures []any
	for _, figure := range []struct {
		query   Query
		columns string
	}{
		{Query{OutSinceYesterday: true}, "COUNT(*)"},
		{Query{Expiring: true}, "COUNT(*)"},
		{Query{AmountDiffers: true, ByDelivery: true, From: &today.DiffersFrom}, "COUNT(*)"},
		{Query{Substatuses: UndecidedSubstatuses}, "COUNT(*)"},
		{Query{Substatuses: []models.Substatus{models.SubstatusRetryPlanned}, DueBy: &today.Day}, "COUNT(*)"},
		{Query{NotLoaded: true}, "COUNT(*)"},
		{Query{Substatuses: []models.Substatus{models.SubstatusReturning}}, "COUNT(*)"},
		{delivered, "COUNT(*)"},
		{delivered, sumCollected},
	} {
		query, err := selected(figure.query, figure.columns)
		if err != nil {
			return err
		}
		figures = append(figures, query)
	}
	return s.db.Query(ctx).Raw("SELECT (?), (?), (?), (?), (?), (?), (?), (?), (?)", figures...).Row().
		Scan(&today.OutSinceYesterday, &today.Expiring, &today.AmountDiffers, &today.Undecided, &today.DueToday, &today.NotLoaded,
			&today.Returning, &today.Delivered, &today.Collected)
}

package panel

import (
	"time"

	"despacho/internal/orders"
	"despacho/internal/panel/format"
	"despacho/models"
)

// overdueAfter is how long an order may be in a status before the list says that it waits for too
// long.
var overdueAfter = map[models.Status]time.Duration{
	models.StatusRegistered: 12 * time.Hour, models.StatusReceived: 4 * time.Hour, models.StatusAssigned: 8 * time.Hour,
}

// Overdue reports whether an order is in its status for too long.
func Overdue(order *orders.View, now time.Time) bool {
	limit, limited := overdueAfter[order.Status]
	return limited && now.Sub(order.Since()) > limit
}

// wait is how long an open order is in its status.
type wait struct {
	Text    string
	Overdue bool
}

// Wait is nil for an order that has ended.
func (page ordersPage) Wait(order *orders.View) *wait { return waitOf(order, page.now) }

// Wait is the same on other lists.
func (f *frame) Wait(order *orders.View) *wait { return waitOf(order, f.now) }

func waitOf(order *orders.View, now time.Time) *wait {
	if !order.Status.Open() {
		return nil
	}
	return &wait{format.Duration(max(now.Sub(order.Since()), 0)), Overdue(order, now)}
}

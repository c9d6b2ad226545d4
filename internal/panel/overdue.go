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

// wait is how long an open order is in its status. Since is that moment and Limit the time until it
// is overdue, in seconds.
type wait struct {
	Text         string
	Overdue      bool
	Since, Limit int64
}

// Wait is nil for an order that has ended.
func (f *frame) Wait(order *orders.View) *wait {
	if !order.Status.Open() {
		return nil
	}
	return &wait{
		Text: format.Duration(max(f.now.Sub(order.Since()), 0)), Overdue: Overdue(order, f.now),
		Since: order.Since().Unix(), Limit: int64(overdueAfter[order.Status] / time.Second),
	}
}

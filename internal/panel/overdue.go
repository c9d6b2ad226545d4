package panel

import (
	"time"

	"despacho/internal/orders"
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

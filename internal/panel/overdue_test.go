package panel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/orders"
	"despacho/internal/panel"
	"despacho/models"
)

// An order is overdue when it is in its status for longer than the status allows, counted from when
// it reached the status; an order that has ended never is.
func TestOverdue(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, time.March, 10, 6, 0, 0, 0, time.UTC)
	at := func(hours float64) *time.Time {
		moment := created.Add(time.Duration(hours * float64(time.Hour)))
		return &moment
	}
	order := orders.View{Public: orders.Public{CreatedAt: created, ReceivedAt: at(10), DeliveredAt: at(30)}, AssignedAt: at(13), CancelledAt: at(31)}
	for _, c := range []struct {
		status models.Status
		since  *time.Time
		limit  float64
	}{
		{models.StatusRegistered, at(0), 12}, {models.StatusReceived, at(10), 14}, {models.StatusAssigned, at(13), 21},
		{models.StatusDelivered, at(30), 0}, {models.StatusCancelled, at(31), 0},
	} {
		order.Status = c.status
		require.Equal(t, *c.since, order.Since(), c.status)
		if c.status.Ended() {
			require.False(t, panel.Overdue(&order, *at(1000)), c.status)
			continue
		}
		require.False(t, panel.Overdue(&order, *at(c.limit)), c.status)
		require.True(t, panel.Overdue(&order, at(c.limit).Add(time.Second)), c.status)
	}
}

package orders_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
)

// Somebody moves the order after the request to cancel it has read the row: its workflow compares
// what the sender saw with what the order is when the cancel has its turn.
func TestCancel_orderThatMovesMeanwhile(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		caller := orders.Caller{Operator: &tenant.Operator}
		seen, err := s.App.Orders.Find(t.Context(), caller, uuid.MustParse(s.CreateOrder(t, tenant.Key)))
		require.NoError(t, err)
		_, err = s.App.Orders.Receive(t.Context(), caller, seen, nil)
		require.NoError(t, err)

		_, err = s.App.Orders.Cancel(t.Context(), caller, seen, orders.Cancellation{ExpectedSeq: &seen.Seq})
		require.ErrorIs(t, err, orders.ErrOrderChanged)
		now, err := s.App.Orders.Find(t.Context(), caller, seen.ID)
		require.NoError(t, err)
		require.Equal(t, models.StatusReceived, now.Status)
		_, err = s.App.Orders.Cancel(t.Context(), caller, now, orders.Cancellation{ExpectedSeq: &now.Seq})
		require.NoError(t, err)
	})
}

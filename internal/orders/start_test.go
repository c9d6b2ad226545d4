package orders_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/workflows"
)

// An order may be cancelled and erased while its start still waits: the cancel starts a workflow of
// its own, and the erasure deletes that one's history. The order's turn to be started then starts
// nothing.
func TestStart_erasedMeanwhile(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id := s.CreateOrder(t, tenant.Key)
		created, err := s.App.DB.OrderViewByID(t.Context(), uuid.MustParse(id))
		require.NoError(t, err)
		cancelled := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: tenant.Key})
		require.Equal(t, http.StatusOK, cancelled.Status, cancelled.Text)
		poll.Until(t, func() error { // until the workflow has ended
			_, err := s.App.Orders.Erase(t.Context(), &tenant.Operator, created.ID)
			return err
		})
		isGone := func() error {
			_, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflows.OrderWorkflowID(created.ID), "")
			if err == nil {
				return errors.New("the order has a workflow")
			}
			require.ErrorAs(t, err, new(*serviceerror.NotFound))
			return nil
		}
		poll.Until(t, isGone)
		created.CreatedAt = created.CreatedAt.Add(-time.Minute)
		require.NoError(t, s.App.Orders.StartQueued(t.Context(), &created.Order))
		require.NoError(t, isGone())
	})
}

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

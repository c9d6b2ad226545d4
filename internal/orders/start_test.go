package orders_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

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
			require.True(t, workflows.IsNotRunning(err), err)
			return nil
		}
		poll.Until(t, isGone)
		created.CreatedAt = created.CreatedAt.Add(-time.Minute)
		require.NoError(t, s.App.Orders.StartQueued(t.Context(), &created.Order))
		require.NoError(t, isGone())
	})
}

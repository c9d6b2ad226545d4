package worker_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"despacho/db"
	"despacho/internal/clock"
	"despacho/orders"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/workflows"
)

// defective is a Temporal client that panics for one order.
type defective struct {
	client.Client
	order string
}

func (c defective) UpdateWorkflow(ctx context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	if options.WorkflowID == workflowOf(c.order) {
		panic("defect")
	}
	return c.Client.UpdateWorkflow(ctx, options)
}

func (c defective) ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, arguments ...any) (client.WorkflowRun, error) {
	if options.ID == workflowOf(c.order) {
		panic("defect")
	}
	return c.Client.ExecuteWorkflow(ctx, options, workflow, arguments...)
}

func (s *service) withDefect(t *testing.T, order string) *orders.Service {
	t.Helper()
	service := orders.New(s.App.DB, db.NewCatalogCache(s.App.DB), defective{s.Temporal, order}, clock.System(), slog.New(slog.DiscardHandler), orders.Options{
		TaskQueue: s.Config.TaskQueue, StartTimeout: poll.Deadline, MoveTimeout: poll.Deadline, MoveDeadline: poll.Deadline, BulkAssignTimeout: poll.Deadline,
	})
	t.Cleanup(service.Close)
	return service
}

// A panic while one of many orders is moved is the outcome of that order; the others are moved.
func TestPanic_inABulkMove(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		broken, sound := uuid.MustParse(s.CreateOrder(t, s.Key)), uuid.MustParse(s.CreateOrder(t, s.Key))
		results, err := s.withDefect(t, broken.String()).CancelMany(t.Context(), orders.Caller{Operator: &s.Operator}, []uuid.UUID{broken, sound}, orders.Cancellation{})
		require.NoError(t, err)
		require.Equal(t, orders.BulkUnconfirmed, results[0].Outcome)
		require.Equal(t, orders.BulkCancelled, results[1].Outcome)
	})
}

// A panic while the reconcile workflow starts one order's workflow fails its pass and keeps no
// other order from its workflow.
func TestPanic_whileAnOrderIsStarted(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	away := s.withoutTemporal(t, 2*orders.StartGracePeriod)
	broken, sound := away.CreateOrder(t, s.Key), away.CreateOrder(t, s.Key)
	a := s.comparing()
	a.Orders = s.withDefect(t, broken)
	poll.Until(t, func() error { // the rows may be younger than the grace period
		_, err := a.StartMissingOrders(t.Context())
		require.ErrorContains(t, err, "panic")
		_, err = s.Temporal.DescribeWorkflowExecution(t.Context(), workflowOf(sound), "")
		return err
	})
	_, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflowOf(broken), "")
	require.True(t, workflows.IsNotRunning(err), err)
}

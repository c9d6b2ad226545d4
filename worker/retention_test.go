package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/db"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// One run of the reconcile workflow erases all whose retention is over, more than one pass does.
func TestReconcile_erasesAllInOneRun(t *testing.T) {
	t.Parallel()
	const kept = 30 * 24 * time.Hour
	s := boot(t, "", apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.PersonalDataRetention = kept }})
	rows := make([]models.Order, 101)
	for i := range rows {
		rows[i] = s.Row(time.Now().Add(-2*kept), apptest.CancelledBy(models.ByStore, ""))
	}
	s.InsertRows(t, rows)
	require.NoError(t, s.reconcileUntil(t, func() error { return s.requireErased(t, rows...) }))
}

// An order that cannot be erased, and an event whose data is not JSON, keep nothing else from being
// erased, and the run fails so that somebody sees it.
func TestReconcile_erasesBesideWhatItCannotErase(t *testing.T) {
	t.Parallel()
	const kept = 30 * 24 * time.Hour
	s := boot(t, "", apptest.Options{NoWorker: true, Configure: func(c *config.Config) { c.PersonalDataRetention, c.PayloadRetention = kept, time.Hour }})
	rows := make([]models.Order, 60)
	for i := range rows {
		rows[i] = s.Row(time.Now().Add(-2*kept).Add(time.Duration(i)*time.Minute), apptest.CancelledBy(models.ByStore, ""))
	}
	s.InsertRows(t, rows)
	event := models.FeedEvent{
		ID: uuid.New(), OperatorID: s.Operator.ID, OrderID: rows[1].ID, Event: models.EventCreated, Data: "Rosa Díaz", CreatedAt: time.Now().Add(-2 * time.Hour),
	}
	require.NoError(t, s.App.DB.Insert(t.Context(), &event))
	s.refuseUpdates(t, rows[0])
	err := s.reconcileUntil(t, func() error { return s.requireErased(t, rows[1:]...) })
	require.ErrorContains(t, err, rows[0].ID.String())
	var data string
	require.NoError(t, s.App.DB.SQL().QueryRowContext(t.Context(), "SELECT data FROM feed_events").Scan(&data))
	require.Equal(t, "{}", data)
}

// asks counts how often Temporal is asked for the workflow of an order.
type asks struct {
	client.Client
	order uuid.UUID
	count *int
}

func (a asks) DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if workflowID == workflowOf(a.order.String()) {
		*a.count++
	}
	return a.Client.DescribeWorkflowExecution(ctx, workflowID, runID)
}

// It is tried once, however many passes the others take.
func TestRetention_triesWhatItCannotEraseOnce(t *testing.T) {
	t.Parallel()
	const kept = 30 * 24 * time.Hour
	s := boot(t, "", apptest.Options{NoWorker: true})
	rows := make([]models.Order, 120)
	for i := range rows {
		rows[i] = s.Row(time.Now().Add(-2*kept).Add(time.Duration(i)*time.Minute), apptest.CancelledBy(models.ByStore, ""))
	}
	s.InsertRows(t, rows)
	s.refuseUpdates(t, rows[0])
	var tried int
	service := orders.New(s.App.DB, db.NewCatalogCache(s.App.DB), asks{s.Temporal, rows[0].ID, &tried}, clock.System(), slog.New(slog.DiscardHandler), orders.Options{
		TaskQueue: s.Config.TaskQueue, Namespace: client.DefaultNamespace, PersonalDataRetention: kept,
	})
	t.Cleanup(service.Close)
	erased, err := service.ApplyRetention(t.Context(), func() bool { return false })
	require.ErrorContains(t, err, rows[0].ID.String())
	require.Equal(t, len(rows)-1, erased)
	require.NoError(t, s.requireErased(t, rows[1:]...))
	require.Equal(t, 1, tried)
}

// The same holds for all orders to a phone.
func TestErase_byPhoneBesideWhatItCannotErase(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	rows := make([]models.Order, 3)
	for i := range rows {
		rows[i] = s.Row(time.Now().Add(time.Duration(i-10)*time.Minute), apptest.CancelledBy(models.ByStore, ""), func(o *models.Order) { o.RecipientPhone = "+51987654321" })
	}
	s.InsertRows(t, rows)
	s.refuseUpdates(t, rows[0])
	outcome, err := s.App.Orders.EraseByPhone(t.Context(), &s.Operator, "+51987654321")
	require.ErrorContains(t, err, rows[0].ID.String())
	require.Equal(t, orders.Erasure{Erased: 2}, outcome)
	require.NoError(t, s.requireErased(t, rows[1:]...))
}

// refuseUpdates makes SQLite refuse every change of an order.
func (s *service) refuseUpdates(t *testing.T, order models.Order) {
	t.Helper()
	_, err := s.App.DB.SQL().ExecContext(t.Context(), fmt.Sprintf(
		"CREATE TRIGGER refused BEFORE UPDATE ON orders WHEN OLD.id = '%s' BEGIN SELECT RAISE(ABORT, 'refused'); END", order.ID))
	require.NoError(t, err)
}

// requireErased returns an error if one of the orders is not erased.
func (s *service) requireErased(t *testing.T, rows ...models.Order) error {
	t.Helper()
	for _, row := range rows {
		order, err := s.App.DB.OrderViewByID(t.Context(), row.ID)
		if err != nil {
			return err
		}
		if order.ErasedAt == nil {
			return fmt.Errorf("%s is not erased", row.ID)
		}
	}
	return nil
}

// reconcileUntil runs the reconcile activity until what it is to do is done, and returns its error.
func (s *service) reconcileUntil(t *testing.T, done func() error) error {
	t.Helper()
	a := s.reconciling(t, s.Temporal)
	a.Orders = s.App.Orders
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.SetTestTimeout(poll.Deadline)
	env.RegisterActivity(a.Reconcile)
	stopping, ended := make(chan struct{}), make(chan error, 1)
	env.SetWorkerStopChannel(stopping)
	go func() {
		_, err := env.ExecuteActivity(a.Reconcile, poll.Deadline)
		ended <- err
	}()
	poll.Until(t, done)
	close(stopping)
	return <-ended
}

package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// rewind makes an order what it was when it was created, as an older copy of the database has it.
// It is repeated while a worker adds an attempt to a delivery that is being deleted.
func (s *service) rewind(t *testing.T, orderID string) {
	t.Helper()
	poll.Until(t, func() error {
		tx, err := s.App.DB.SQL().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer tx.Rollback()
		for _, statement := range []string{
			"DELETE FROM delivery_attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE order_id = '%s' AND order_seq > 1)",
			"DELETE FROM deliveries WHERE order_id = '%s' AND order_seq > 1",
			"DELETE FROM order_events WHERE order_id = '%s' AND seq > 1",
			`UPDATE orders SET status = 'registered', seq = 1, rider_id = NULL, received_at = NULL, assigned_at = NULL, delivered_at = NULL,
				cancelled_at = NULL, cancelled_by = NULL, workflow_started_at = created_at, updated_at = created_at WHERE id = '%s'`,
		} {
			_, err := tx.ExecContext(t.Context(), fmt.Sprintf(statement, orderID))
			if db.IsMissingReference(err) {
				return err
			}
			require.NoError(t, err)
		}
		require.NoError(t, tx.Commit())
		return nil
	})
}

// moveToDelivered makes every move of an order and requires that each is really made.
func (s *service) moveToDelivered(t *testing.T, orderID string) {
	t.Helper()
	require.Equal(t, "received", s.receive(t, orderID).String("status"))
	require.Equal(t, "assigned", s.assign(t, orderID, 0).String("status"))
	require.Equal(t, "delivered", s.deliver(t, orderID).String("status"))
	require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, orderID))
}

// orphan starts the workflow of an order that is not in the database.
func (s *service) orphan(t *testing.T) (workflowID string) {
	t.Helper()
	id := uuid.New()
	run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: workflows.OrderWorkflowID(id), TaskQueue: s.Config.TaskQueue,
	}, workflows.OrderWorkflowName, workflows.OrderInput{OrderID: id, Snapshot: &workflows.Snapshot{
		State: models.State{Status: models.StatusReceived}, Seq: 2, GuideCode: "7K2QX-M4TN8C",
	}})
	require.NoError(t, err)
	return run.GetID()
}

// reconcileAfterRestore does what `despacho reconcile --after-restore` does once Temporal lists the
// workflows, whose list lags behind, and requires that those end.
func (s *service) reconcileAfterRestore(t *testing.T, running ...string) {
	t.Helper()
	poll.Until(t, func() error {
		for _, id := range running {
			listed, err := s.Temporal.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
				Query: fmt.Sprintf("WorkflowId = '%s' AND ExecutionStatus = 'Running'", id),
			})
			if err != nil || listed.GetCount() == 0 {
				return fmt.Errorf("%s is not listed: %w", id, err)
			}
		}
		return nil
	})
	_, err := s.App.Orders.EndWorkflows(t.Context(), "restored")
	require.NoError(t, err)
	_, err = s.App.Orders.UnconfirmOpenOrders(t.Context())
	require.NoError(t, err)
	for _, id := range running {
		require.NoError(t, s.hasStatus(t, id, enums.WORKFLOW_EXECUTION_STATUS_TERMINATED))
	}
}

// reconcileUntilStatus has reconcile look until a workflow has a status.
func (s *service) reconcileUntilStatus(t *testing.T, workflowID string, want enums.WorkflowExecutionStatus) {
	t.Helper()
	poll.Until(t, func() error {
		s.reconcile(t)
		return s.hasStatus(t, workflowID, want)
	})
}

func (s *service) hasStatus(t *testing.T, workflowID string, want enums.WorkflowExecutionStatus) error {
	t.Helper()
	if status := s.describe(t, workflowID).WorkflowExecutionInfo.Status; status != want {
		return fmt.Errorf("%s is %s", workflowID, status)
	}
	return nil
}

// eachOwn runs a test on services of its own: it ends all workflows and has every open order looked
// at.
func eachOwn(t *testing.T, run func(t *testing.T, s *service)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) { run(t, boot(t, databaseURL, apptest.Options{})) })
}

// setUpdatedAnHourAgo makes every order one that the reconcile workflow does not leave to the
// process that has changed it.
func (s *service) setUpdatedAnHourAgo(t *testing.T) {
	t.Helper()
	_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE orders SET updated_at = $1", time.Now().UTC().Add(-time.Hour))
	require.NoError(t, err)
}

// Where the database is an older copy, workflows are ahead of their rows, or have no order. All of
// them end, and the open orders go on from their rows: their moves are made again, although their
// workflows had made them already.
func TestRestored_olderDatabase(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *service) {
		moved, completed, untouched := s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key)
		s.receive(t, moved)
		s.moveToDelivered(t, completed)
		s.waitForOrderEnd(t, completed)
		for _, id := range []string{moved, completed, untouched} {
			s.waitForStartConfirmed(t, id)
			s.rewind(t, id)
		}
		s.setUpdatedAnHourAgo(t)
		s.reconcileAfterRestore(t, s.orphan(t), workflowOf(moved), workflowOf(untouched))
		for _, id := range []string{moved, completed, untouched} {
			s.reconcileUntilStatus(t, workflowOf(id), enums.WORKFLOW_EXECUTION_STATUS_RUNNING)
			poll.Until(t, func() error {
				if details := s.details(t, id); !strings.HasPrefix(details, "**Registrado**") {
					return fmt.Errorf("%s: %s", id, details)
				}
				// The query may be answered before the end of the task that starts the timer.
				if timers := pendingTimers(s.historyOf(t, workflowOf(id), "")); timers != 1 {
					return fmt.Errorf("%s has %d timers: it must cancel itself at its time", id, timers)
				}
				return nil
			})
			s.moveToDelivered(t, id)
			s.waitForOrderEnd(t, id)
		}
	})
}

// pendingTimers counts the timers of a run that neither fired nor were cancelled.
func pendingTimers(run *history.History) (pending int) {
	for _, event := range run.Events {
		switch event.EventType {
		case enums.EVENT_TYPE_TIMER_STARTED:
			pending++
		case enums.EVENT_TYPE_TIMER_FIRED, enums.EVENT_TYPE_TIMER_CANCELED:
			pending--
		}
	}
	return pending
}

// A Temporal that is older than the database has workflows behind their rows, and lacks others.
func TestRestored_olderTemporal(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *service) {
		behind, missing := s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key)
		s.receive(t, behind)
		for _, id := range []string{behind, missing} {
			s.waitForStartConfirmed(t, id)
		}
		_, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
			OrderID: uuid.MustParse(behind), EntryID: uuid.New(), Seq: 3, Move: models.MoveCancel, By: models.ByOperator, To: models.StatusCancelled,
			At: time.Now().UTC().Truncate(time.Microsecond),
		})
		require.NoError(t, err)
		s.setUpdatedAnHourAgo(t)
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(missing), "", "not in the copy"))
		s.reconcileAfterRestore(t, workflowOf(behind))
		s.reconcileUntilStatus(t, workflowOf(missing), enums.WORKFLOW_EXECUTION_STATUS_RUNNING)
		require.NoError(t, s.hasStatus(t, workflowOf(behind), enums.WORKFLOW_EXECUTION_STATUS_TERMINATED), "its order has ended")
		require.Equal(t, http.StatusOK, s.move(t, missing, "receive", nil).Status)
	})
}

// retrying returns an ended order whose workflow waits hours for the retry of its last event, and
// the id of that event's delivery. The receiver takes what is sent from now on.
func (s *service) retrying(t *testing.T) (orderID, delivery string) {
	t.Helper()
	var repaired atomic.Bool
	receiver := apptest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if !repaired.Load() {
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	s.Register(t, s.Key, receiver, map[string]any{"events": []string{"order.cancelled"}, "retry": true})
	orderID = s.CreateOrder(t, s.Key)
	require.Equal(t, http.StatusOK, s.move(t, orderID, "cancel", map[string]any{}).Status)
	s.waitForStartConfirmed(t, orderID)
	poll.Until(t, func() error { // the outcome of the first attempt is stored
		return s.App.DB.SQL().QueryRowContext(t.Context(), `SELECT deliveries.id FROM deliveries JOIN delivery_attempts ON delivery_id = deliveries.id
			WHERE order_id = $1 AND delivery_attempts.finished_at IS NOT NULL`, orderID).Scan(&delivery)
	})
	repaired.Store(true)
	return orderID, delivery
}

// The workflow of an ended order does not wait for the retry of an event that was redelivered.
func TestRedelivered_endsTheWorkflow(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, delivery := s.retrying(t)
		answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/deliveries/" + delivery + "/redeliver", Key: s.Key})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		require.Equal(t, "delivered", answer.String("status"), answer.Text)
		s.waitForOrderEnd(t, id)
	})
}

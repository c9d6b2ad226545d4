package worker_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/closedport"
	"despacho/test/testenv"
	"despacho/workflows"
)

// Messages up to the server's limit of 2 MB do not keep an order from its moves, and none of them
// is carried into the next run. Larger ones the server refuses itself.
func TestLimits_largeSignals(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.startedOrder(t, s.Key)
		err := s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", workflows.CancelName, rawJSON(`{"reason":"`+strings.Repeat("x", 3<<20)+`"}`))
		require.Error(t, err)
		s.sendLargeSignals(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		require.Less(t, s.describe(t, workflowOf(id)).WorkflowExecutionInfo.HistorySizeBytes, int64(1<<20))
		s.deliver(t, id)
		s.waitForOrderEnd(t, id)
		require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, id))
	})
}

// Hundreds of signals at once, which the transition table refuses or which ask for a look at the
// row, do not keep an order from its moves: together, their results would be too large for
// Temporal.
func TestLimits_manySignals(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	// The pending deliveries make every look at the row a large result.
	s.insertWebhooks(t, 100, models.EventCreated, "https://"+closedport.Address(t))
	id := s.startedOrder(t, s.Key)
	_, err := s.App.DB.SQL().Exec("UPDATE deliveries SET queued = FALSE") // as a release without a queue has left them
	require.NoError(t, err)
	var sending errgroup.Group
	sending.SetLimit(32)
	for range manySignals {
		sending.Go(func() error {
			if err := s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", workflows.RefreshName, nil); err != nil {
				return err
			}
			return s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", workflows.DeliveredName, map[string]any{})
		})
	}
	require.NoError(t, sending.Wait())
	s.StartWorker(t)
	s.receive(t, id)
	s.assign(t, id, 0)
	s.deliver(t, id)
	require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, id))
}

const manySignals = 400

// insertWebhooks gives the operator more webhooks than the API allows.
func (s *service) insertWebhooks(t *testing.T, count int, event models.Event, url string) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	var rows []any
	for range count {
		rows = append(rows, models.Webhook{
			ID: uuid.New(), OperatorID: s.Operator.ID, URL: url, Events: string(event), Secret: []byte("sealed"), Retry: true, Active: true, CreatedAt: now,
		})
	}
	for some := range slices.Chunk(rows, 100) {
		hooks := make([]models.Webhook, len(some))
		for i, row := range some {
			hooks[i] = row.(models.Webhook)
		}
		s.Change(t, &hooks)
	}
}

// An event with thousands of webhooks is stored, and its workflow calls few of them, far below the
// server's limit of 2,000 pending activities, beyond which no workflow task of the order would
// succeed. The moves go on.
func TestLimits_thousandsOfWebhooks(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{}) // SQLite takes the fewest parameters in a statement
	const count = 3_000
	s.insertWebhooks(t, count, models.EventAssigned, "https://"+closedport.Address(t))
	id := s.CreateOrder(t, s.Key)
	t.Cleanup(func() { // its calls would keep the server busy that other tests share
		_ = s.Temporal.TerminateWorkflow(context.Background(), workflowOf(id), "", "the test is over")
	})
	s.receive(t, id)
	s.assign(t, id, 0)
	var stored int
	require.NoError(t, s.App.DB.SQL().QueryRow("SELECT count(*) FROM deliveries").Scan(&stored))
	require.Equal(t, count, stored)
	require.Equal(t, http.StatusOK, s.move(t, id, "cancel", nil).Status)
	require.Equal(t, []string{"created", "received", "assigned", "cancelled"}, s.moveTypes(t, id))
	_, runID := s.waitForOrderEnd(t, id)
	require.Equal(t, 2, strings.Count(strings.Join(s.summaries(t, id, runID), " "), "order.assigned → "))
}

// A workflow that was reset by hand to its beginning is behind the row. The next move works, and no
// move is made twice.
func TestOrder_resetByHand(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		receiver := apptest.NewReceiver(t, nil)
		s.Register(t, s.Key, receiver)
		id := s.startedOrder(t, s.Key)
		s.waitForIdle(t, id)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.assign(t, id, 1)
		receiver.WaitFor(t, 3)
		s.waitForIdle(t, id)
		execution := s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Execution
		var firstTask int64
		for _, event := range s.historyOf(t, workflowOf(id), "").Events {
			if event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
				firstTask = event.EventId
				break
			}
		}
		_, err := s.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
			Namespace: client.DefaultNamespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: execution.WorkflowId, RunId: execution.RunId},
			Reason: "by hand", WorkflowTaskFinishEventId: firstTask, RequestId: uuid.NewString(),
		})
		require.NoError(t, err)
		s.deliver(t, id)
		require.Equal(t, []string{"created", "received", "assigned", "assigned", "delivered"}, s.moveTypes(t, id))
		require.Equal(t, s.Riders[1].Name, s.order(t, id).Data["rider"].(map[string]any)["name"])
		s.waitForOrderEnd(t, id)
		var events []string
		for _, event := range receiver.WaitFor(t, 4) {
			events = append(events, event.Event)
		}
		require.Equal(t, []string{"order.created", "order.assigned", "order.assigned", "order.delivered"}, events)
	})
}

// What a person may send by hand, and an order does not know, changes nothing.
func TestOrder_unknownMessages(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.startedOrder(t, s.Key)
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", "unknown", "x"))
		handle, err := s.Temporal.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
			WorkflowID: workflowOf(id), UpdateName: "unknown", WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = handle.Get(t.Context(), nil)
		}
		require.ErrorContains(t, err, "unknown update")
		_, err = s.Temporal.QueryWorkflow(t.Context(), workflowOf(id), "", "unknown")
		var failed *serviceerror.QueryFailed
		require.ErrorAs(t, err, &failed)
		require.NoError(t, s.Temporal.CancelWorkflow(t.Context(), workflowOf(id), ""))
		s.receive(t, id)
		s.assign(t, id, 0)
		s.deliver(t, id)
		s.waitForOrderEnd(t, id)
	})
}

// An order's workflow on a task queue that no worker serves, as after TEMPORAL_TASK_QUEUE was
// changed, is replaced by one on the right queue.
func TestOrder_onAnotherTaskQueue(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := uuid.MustParse(s.CreateOrder(t, s.Key))
		s.waitForStartConfirmed(t, id.String())
		s.receive(t, id.String())
		s.waitForStartConfirmed(t, id.String())
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(id.String()), "", "by hand"))
		_, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: workflowOf(id.String()), TaskQueue: testenv.TaskQueue(t),
		}, workflows.OrderWorkflowName, workflows.OrderInput{OrderID: id})
		require.NoError(t, err)
		require.NoError(t, s.App.Orders.Reconcile(t.Context(), id)) // as the reconcile workflow does
		require.Equal(t, s.Config.TaskQueue, s.describe(t, workflowOf(id.String())).ExecutionConfig.TaskQueue.Name)
		s.assign(t, id.String(), 0)
		s.deliver(t, id.String())
		s.waitForOrderEnd(t, id.String())
	})
}

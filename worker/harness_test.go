package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/closedport"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// idleDeadline bounds what takes milliseconds on an idle machine.
const idleDeadline = poll.Deadline

// service is a running service with one operator and a signed-in panel user.
type service struct {
	*apptest.Service
	*apptest.Tenant
	staff       string
	databaseURL string
}

// boot starts the test's own service, on SQLite unless given another database.
func boot(t *testing.T, databaseURL string, options apptest.Options) *service {
	t.Helper()
	if databaseURL == "" {
		databaseURL = testenv.SQLite(t)
	}
	s := &service{Service: apptest.Boot(t, databaseURL, options), databaseURL: databaseURL}
	if options.TemporalAddress == "" {
		deleteSchedule(t, s.Service)
	}
	s.Tenant = s.NewTenant(t)
	s.staff = s.SignIn(t, nil)
	return s
}

// each runs a test on the package's shared services, one on SQLite and one on PostgreSQL, with its
// own operator.
func each(t *testing.T, run func(t *testing.T, s *service)) {
	apptest.EachDatabase(t, func(t *testing.T, shared *apptest.Service) {
		run(t, (&service{Service: shared}).secondOperator(t))
	})
}

// secondOperator adds an operator to the same service.
func (s *service) secondOperator(t *testing.T) *service {
	t.Helper()
	other := &service{Service: s.Service, databaseURL: s.databaseURL, Tenant: s.NewTenant(t)}
	other.staff = other.SignIn(t, nil)
	return other
}

// secondProcess starts another process with the same database and task queue, without a worker.
func (s *service) secondProcess(t *testing.T, options apptest.Options) *apptest.Service {
	t.Helper()
	options.TaskQueue, options.NoWorker = s.Config.TaskQueue, true
	return apptest.Boot(t, s.databaseURL, options)
}

// deleteSchedule deletes the reconcile schedule of a finished test.
func deleteSchedule(t *testing.T, s *apptest.Service) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Temporal.ScheduleClient().GetHandle(ctx, workflows.ReconcileScheduleID(s.Config.TaskQueue)).Delete(ctx)
	})
}

// reconcile has the reconcile workflow look now, again if its activity ran out of time on a busy
// machine, as its schedule would. TestReconcile_drivesAbandonedDeliveries has the schedule run it.
func (s *service) reconcile(t *testing.T) {
	t.Helper()
	poll.Until(t, func() error {
		run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: s.Config.TaskQueue}, workflows.ReconcileWorkflowName)
		if err != nil {
			return err
		}
		return run.Get(t.Context(), nil)
	})
}

// reconcileBySchedule triggers the schedule of the reconcile workflow.
func (s *service) reconcileBySchedule(t *testing.T) {
	t.Helper()
	handle := s.Temporal.ScheduleClient().GetHandle(t.Context(), workflows.ReconcileScheduleID(s.Config.TaskQueue))
	poll.Until(t, func() error { // the worker makes it beside its work
		return handle.Trigger(t.Context(), client.ScheduleTriggerOptions{Overlap: enums.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL})
	})
}

// move moves an order as a panel user.
func (s *service) move(t *testing.T, orderID, move string, body any) *apptest.Answer {
	t.Helper()
	return s.Do(t, moveRequest(s, orderID, move, body))
}

func (s *service) receive(t *testing.T, orderID string) *apptest.Answer {
	t.Helper()
	answer := s.move(t, orderID, "receive", nil)
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

func (s *service) assign(t *testing.T, orderID string, rider int) *apptest.Answer {
	t.Helper()
	answer := s.move(t, orderID, "assign", map[string]any{"rider_id": s.Riders[rider].ID})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

func (s *service) deliver(t *testing.T, orderID string) *apptest.Answer {
	t.Helper()
	answer := s.move(t, orderID, "deliver", nil)
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

// order reads an order through the API.
func (s *service) order(t *testing.T, orderID string) *apptest.Answer {
	t.Helper()
	answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + orderID, Key: s.Key})
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	return answer
}

// waitForStatus returns the order once it has the status. Right after an outage a read may still be
// answered 503: its connection was one of those that the outage ended.
func (s *service) waitForStatus(t *testing.T, orderID, status string) *apptest.Answer {
	t.Helper()
	var order *apptest.Answer
	poll.Until(t, func() error {
		order = s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/orders/" + orderID, Key: s.Key})
		if order.String("status") != status {
			return fmt.Errorf("the order is %s, not %s (%d)", order.String("status"), status, order.Status)
		}
		return nil
	})
	return order
}

// moveTypes lists the types of an order's moves in its timeline, oldest first.
func (s *service) moveTypes(t *testing.T, orderID string) []string {
	t.Helper()
	entries := dbtest.Rows[models.TimelineEntry](t, s.App.DB, "order_id = ? AND seq IS NOT NULL", orderID)
	slices.SortFunc(entries, func(a, b models.TimelineEntry) int { return *a.Seq - *b.Seq })
	var types []string
	for _, entry := range entries {
		types = append(types, entry.Type)
	}
	return types
}

// workflowOf is the id of an order's workflow.
func workflowOf(orderID string) string { return workflows.OrderWorkflowID(uuid.MustParse(orderID)) }

// describe describes a workflow's latest run once there is one: a creation is answered before its
// workflow is started.
func (s *service) describe(t *testing.T, workflowID string) (described *workflowservice.DescribeWorkflowExecutionResponse) {
	t.Helper()
	poll.Until(t, func() (err error) {
		described, err = s.Temporal.DescribeWorkflowExecution(t.Context(), workflowID, "")
		return err
	})
	return described
}

// startedOrder creates an order and returns its id once its workflow runs, for tests that send
// messages to the workflow themselves.
func (s *service) startedOrder(t *testing.T, key string, changes ...map[string]any) string {
	t.Helper()
	id := s.CreateOrder(t, key, changes...)
	s.describe(t, workflowOf(id))
	return id
}

// waitForIdle returns when a run waits only for messages and its timer.
func (s *service) waitForIdle(t *testing.T, orderID string) {
	t.Helper()
	poll.Until(t, func() error {
		described, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflowOf(orderID), "")
		if err != nil {
			return err
		}
		if described.PendingWorkflowTask != nil || len(described.PendingActivities) > 0 || described.WorkflowExecutionInfo.HistoryLength < 4 {
			return fmt.Errorf("still at work: %v %v", described.PendingWorkflowTask, described.PendingActivities)
		}
		return nil
	})
}

// waitForStartConfirmed returns when the order's workflow start is confirmed in the database,
// shortly after the start.
func (s *service) waitForStartConfirmed(t *testing.T, orderID string) {
	t.Helper()
	poll.Until(t, func() error {
		order, err := s.App.DB.OrderViewByID(t.Context(), uuid.MustParse(orderID))
		if err != nil {
			return err
		}
		if order.WorkflowStartedAt == nil {
			return fmt.Errorf("%s is still to be started", orderID)
		}
		return nil
	})
}

// waitForEnd returns the run id of a workflow's latest run once it has completed.
func (s *service) waitForEnd(t *testing.T, workflowID string) (runID string) {
	t.Helper()
	poll.Until(t, func() error {
		described, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflowID, "")
		if err != nil {
			return err
		}
		if status := described.WorkflowExecutionInfo.Status; status != enums.WORKFLOW_EXECUTION_STATUS_COMPLETED {
			return fmt.Errorf("%s is %s", workflowID, status)
		}
		runID = described.WorkflowExecutionInfo.Execution.RunId
		return nil
	})
	return runID
}

// historyOf reads the history of one run; without a run id, of the latest.
func (s *service) historyOf(t *testing.T, workflowID, runID string) *history.History {
	t.Helper()
	events := s.Temporal.GetWorkflowHistory(t.Context(), workflowID, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var all history.History
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		all.Events = append(all.Events, event)
	}
	return &all
}

// lateClock is a clock that runs behind the system clock.
type lateClock time.Duration

func (d lateClock) Now() time.Time { return clock.System().Now().Add(-time.Duration(d)) }

// withoutTemporal starts another process that cannot reach Temporal and whose clock is behind by
// the given time.
func (s *service) withoutTemporal(t *testing.T, late time.Duration, configure ...func(*config.Config)) *apptest.Service {
	t.Helper()
	return s.secondProcess(t, apptest.Options{TemporalAddress: closedport.Address(t), Clock: lateClock(late), Configure: func(c *config.Config) {
		for _, change := range configure {
			change(c)
		}
	}})
}

// shortMoveTimeout makes moves time out after a second.
func shortMoveTimeout(c *config.Config) { c.Timeouts.Move = time.Second }

// withAutoCancelAfter sets the auto-cancel time.
func withAutoCancelAfter(after time.Duration) func(*config.Config) {
	return func(c *config.Config) { c.AutoCancelAfter = after }
}

package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"

	"despacho/activities"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/webhooks"
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

// An order of an older copy of the database makes its moves again, although its workflow made them
// already and Temporal answers a repeated update with the first outcome.
func TestRestored_movesAreMadeAgain(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		delivered, onItsWay := s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key)
		s.moveToDelivered(t, delivered)
		s.waitForOrderEnd(t, delivered)
		s.receive(t, onItsWay)
		s.assign(t, onItsWay, 0)
		for _, id := range []string{delivered, onItsWay} {
			s.waitForStartConfirmed(t, id)
			s.rewind(t, id)
			s.moveToDelivered(t, id)
			s.waitForOrderEnd(t, id)
		}
	})
}

// comparing has the activities with which a worker compares the database and Temporal.
func (s *service) comparing() *activities.Activities {
	return &activities.Activities{
		Orders: s.App.Orders, DB: s.App.DB, Temporal: s.Temporal, TaskQueue: s.Config.TaskQueue, Clock: clock.System(), Log: slog.New(slog.DiscardHandler),
		LastPass: poll.Deadline,
	}
}

// orphan starts the workflow of an order that is not in the database.
func (s *service) orphan(t *testing.T) (workflowID string) {
	t.Helper()
	id := uuid.New()
	run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: workflows.OrderWorkflowID(id), TaskQueue: s.Config.TaskQueue,
	}, workflows.OrderWorkflowName, workflows.OrderInput{OrderID: id, Snapshot: &workflows.Snapshot{
		Status: models.StatusReceived, Seq: 2, GuideCode: "7K2QX-M4TN8C",
	}})
	require.NoError(t, err)
	return run.GetID()
}

// compareUntil compares until a check holds: Temporal's list of workflows lags behind, and an order
// is left alone until orders.StartGracePeriod has passed.
func (s *service) compareUntil(t *testing.T, check func() error) {
	t.Helper()
	poll.Until(t, func() error {
		if err := s.comparing().CompareWithTemporal(t.Context()); err != nil {
			return err
		}
		if _, err := s.comparing().StartMissingOrders(t.Context()); err != nil {
			return err
		}
		return check()
	})
}

func (s *service) hasStatus(t *testing.T, workflowID string, want enums.WorkflowExecutionStatus) error {
	t.Helper()
	if status := s.describe(t, workflowID).WorkflowExecutionInfo.Status; status != want {
		return fmt.Errorf("%s is %s", workflowID, status)
	}
	return nil
}

// eachOwn runs a test on services of its own: it has every open order looked at.
func eachOwn(t *testing.T, run func(t *testing.T, s *service)) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) { run(t, boot(t, databaseURL, apptest.Options{})) })
}

// A workflow whose order is not in the database fails. It shows that the database is an older copy:
// the workflows of all open orders take their state from the row.
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
		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE orders SET updated_at = $1", time.Now().UTC().Add(-time.Hour))
		require.NoError(t, err)
		orphan := s.orphan(t)
		s.compareUntil(t, func() error { return s.hasStatus(t, orphan, enums.WORKFLOW_EXECUTION_STATUS_FAILED) })
		for _, id := range []string{moved, completed, untouched} {
			s.compareUntil(t, func() error { return s.hasStatus(t, workflowOf(id), enums.WORKFLOW_EXECUTION_STATUS_RUNNING) })
			poll.Until(t, func() error {
				if details := s.details(t, id); details[:len("**Registrado**")] != "**Registrado**" {
					return fmt.Errorf("%s: %s", id, details)
				}
				// The query may be answered before the end of the task that starts the timer.
				if timers := pendingTimers(s.historyOf(t, workflowOf(id), "")); timers != 1 {
					return fmt.Errorf("%s has %d timers: it must cancel itself at its time", id, timers)
				}
				return nil
			})
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
		ended, missing := s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key)
		s.receive(t, ended)
		for _, id := range []string{ended, missing} {
			s.waitForStartConfirmed(t, id)
		}
		_, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
			OrderID: uuid.MustParse(ended), EntryID: uuid.New(), Seq: 3, Move: models.MoveCancel, By: models.ByOperator, To: models.StatusCancelled,
			At: time.Now().UTC().Truncate(time.Microsecond), Cancel: &workflows.Cancel{},
		})
		require.NoError(t, err)
		// Both were made and confirmed an hour ago.
		_, err = s.App.DB.SQL().ExecContext(t.Context(), "UPDATE orders SET workflow_started_at = $1, updated_at = $1", time.Now().UTC().Add(-time.Hour))
		require.NoError(t, err)
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(missing), "", "not in the copy"))
		s.compareUntil(t, func() error { return s.hasStatus(t, workflowOf(ended), enums.WORKFLOW_EXECUTION_STATUS_COMPLETED) })
		s.compareUntil(t, func() error { return s.hasStatus(t, workflowOf(missing), enums.WORKFLOW_EXECUTION_STATUS_RUNNING) })
		require.Equal(t, http.StatusOK, s.move(t, missing, "receive", nil).Status)
	})
}

// listing lists a workflow that does not exist.
type listing struct{ client.Client }

func (l listing) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflow.WorkflowExecutionInfo{
		{Execution: &common.WorkflowExecution{WorkflowId: workflows.OrderWorkflowID(uuid.New())}},
	}}, nil
}

// Temporal's list is a database of its own: in a copy of a later moment it has workflows that do
// not exist, for ever. They are no reason to look at every open order each hour.
func TestRestored_laterList(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.waitForStartConfirmed(t, id)
		comparing := s.comparing()
		comparing.Temporal = listing{s.Temporal}
		require.NoError(t, comparing.CompareWithTemporal(t.Context()))
		unconfirmed, err := s.App.DB.OrdersMissingWorkflow(t.Context(), time.Now().Add(time.Hour), 0, db.Position{}, 10)
		require.NoError(t, err)
		require.Empty(t, unconfirmed)
	})
}

// stuck lists a workflow that cannot be described, then one that has got as many signals as
// Temporal takes, then others.
type stuck struct {
	client.Client
	undescribed, unsignalled string
	others                   []string
	lists                    *atomic.Int64
}

func (s stuck) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.lists.Add(1)
	page := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range append([]string{s.undescribed, s.unsignalled}, s.others...) {
		page.Executions = append(page.Executions, &workflow.WorkflowExecutionInfo{Execution: &common.WorkflowExecution{WorkflowId: id}})
	}
	return page, nil
}

func (s stuck) DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if workflowID == s.undescribed {
		return nil, serviceerror.NewResourceExhausted(enums.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW, "Workflow is busy.")
	}
	return s.Client.DescribeWorkflowExecution(ctx, workflowID, runID)
}

func (s stuck) SignalWorkflow(ctx context.Context, workflowID, runID, signal string, argument any) error {
	if workflowID == s.unsignalled {
		return serviceerror.NewInvalidArgument("exceeded workflow execution limit for signal events")
	}
	return s.Client.SignalWorkflow(ctx, workflowID, runID, signal, argument)
}

// minute is a clock that stands still within an hour.
type minute struct{}

func (minute) Now() time.Time { return time.Now().UTC().Truncate(time.Hour).Add(30 * time.Minute) }

// An order whose workflow takes no more signals is reported. It keeps no other order from being
// compared, and the comparison, which is complete without it, is not made again before its hour.
func TestRestored_aWorkflowThatCannotBeTold(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	id := s.CreateOrder(t, s.Key)
	s.waitForStartConfirmed(t, id)
	temporal := stuck{
		Client: s.Temporal, undescribed: s.orphan(t), unsignalled: s.orphan(t), others: []string{s.orphan(t)}, lists: new(atomic.Int64),
	}
	a := s.reconcilingWith(temporal, minute{})
	err := reconcile(t, a)
	require.ErrorContains(t, err, "exceeded workflow execution limit")
	require.ErrorContains(t, err, "Workflow is busy")
	poll.Until(t, func() error { return s.hasStatus(t, temporal.others[0], enums.WORKFLOW_EXECUTION_STATUS_FAILED) })
	require.NoError(t, reconcile(t, a))
	require.EqualValues(t, 1, temporal.lists.Load())
}

// pages lists the running workflows in three pages, and notes which of them was asked for.
type pages struct {
	client.Client
	asked *[]string
}

func (p pages) ListWorkflow(_ context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	token := string(request.GetNextPageToken())
	*p.asked = append(*p.asked, token)
	next := map[string][]byte{"": []byte("second"), "second": []byte("third")}[token]
	return &workflowservice.ListWorkflowExecutionsResponse{NextPageToken: next}, nil
}

// More workflows run than one run of the reconcile workflow can compare: the next one goes on with
// the page that is next, so that the comparison comes to its end.
func TestRestored_moreThanARunCanCompare(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	var asked []string
	a := s.reconcilingWith(pages{s.Temporal, &asked}, minute{})
	for range 4 {
		require.NoError(t, reconcile(t, a))
	}
	require.Equal(t, []string{"", "second", "third"}, asked, "then it is complete until its hour")
}

// The comparison is made an hour after the last one. It does not wait for a certain minute: no run
// of reconcile may begin in it, because the one before took longer or Temporal was away.
func TestRestored_isComparedEveryHour(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	now := clock.NewManual(time.Now().Truncate(time.Hour).Add(time.Minute))
	temporal := stuck{Client: s.Temporal, undescribed: "none", unsignalled: "none", lists: new(atomic.Int64)}
	a := s.reconcilingWith(temporal, now)
	compared := func() int64 {
		t.Helper()
		require.NoError(t, reconcile(t, a))
		return temporal.lists.Load()
	}
	require.EqualValues(t, 1, compared(), "when the process has started")
	now.Advance(58*time.Minute + 50*time.Second)
	require.EqualValues(t, 1, compared())
	now.Advance(70 * time.Second)
	require.EqualValues(t, 2, compared(), "an hour later")
	now.Advance(time.Minute)
	require.EqualValues(t, 2, compared())
	now.Advance(-2 * time.Hour)
	require.EqualValues(t, 3, compared(), "the clock was set back")
}

// A workflow without an order that never ends, because no worker can run it, shows once that the
// databases are not of the same time, not each hour: every open order would be looked at each time.
func TestRestored_aWorkflowThatNeverEnds(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	s.waitForStartConfirmed(t, s.CreateOrder(t, s.Key))
	var log bytes.Buffer
	first := s.orphan(t)
	temporal := stuck{Client: s.Temporal, unsignalled: first, lists: new(atomic.Int64)}
	now := clock.NewManual(time.Now())
	a := s.reconcilingWith(temporal, now)
	a.Log = slog.New(slog.NewTextHandler(&log, nil))
	found := func() int {
		t.Helper()
		require.ErrorContains(t, reconcile(t, a), "exceeded workflow execution limit")
		now.Advance(time.Hour)
		return strings.Count(log.String(), "are not of the same time")
	}
	require.Equal(t, 1, found())
	require.Equal(t, 1, found(), "it was found an hour ago")
	temporal.others = []string{s.orphan(t)}
	a.Temporal = temporal
	require.Equal(t, 2, found(), "another one is new")
}

// reconcilingWith has the activities of a worker with another view of Temporal and another clock.
func (s *service) reconcilingWith(temporal client.Client, clk clock.Clock) *activities.Activities {
	a := s.comparing()
	a.Temporal, a.Clock, a.Webhooks = temporal, clk, &webhooks.Service{DB: s.App.DB, Temporal: s.Temporal, Clock: clock.System()}
	return a
}

// reconcile makes one run of the reconcile activity, whose time is over at once.
func reconcile(t *testing.T, a *activities.Activities) error {
	t.Helper()
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.SetTestTimeout(poll.Deadline)
	env.RegisterActivity(a.Reconcile)
	_, err := env.ExecuteActivity(a.Reconcile, time.Nanosecond)
	return err
}

// The workflow of a late reception runs before the row shows the reception. It does not show that
// one of the databases is an older copy: the open orders stay confirmed.
func TestRevival_isNoRestoredCopy(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{NoWorker: true, Configure: shortMoveTimeout})
		longAgo := time.Now().AddDate(0, 0, -2)
		late := s.Row(longAgo, apptest.CancelledBy(models.ByAuto, ""))
		s.InsertRows(t, []models.Order{late, s.Row(longAgo)})
		answer := s.move(t, late.ID.String(), "receive", nil)
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, "no worker writes it: %s", answer.Text)
		poll.Until(t, func() error {
			listed, err := s.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowId = '" + workflows.OrderWorkflowID(late.ID) + "'"})
			if err == nil && len(listed.GetExecutions()) == 0 {
				err = errors.New("the run is not listed yet")
			}
			return err
		})
		require.NoError(t, s.comparing().CompareWithTemporal(t.Context()))
		unconfirmed, err := s.App.DB.OrdersMissingWorkflow(t.Context(), time.Now(), 0, db.Position{}, 1)
		require.NoError(t, err)
		require.Empty(t, unconfirmed)
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

// A workflow that still waits for the retry of such an event ends, and does not show that one of
// the databases is an older copy: the open orders stay confirmed.
func TestRedelivered_isNoRestoredCopy(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *service) {
		open := s.CreateOrder(t, s.Key)
		s.waitForStartConfirmed(t, open)
		id, delivery := s.retrying(t)
		_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE deliveries SET status = 'delivered', next_attempt_at = NULL, finished_at = created_at WHERE id = $1", delivery)
		require.NoError(t, err)
		_, err = s.App.DB.SQL().ExecContext(t.Context(), "UPDATE orders SET updated_at = $1", time.Now().UTC().Add(-time.Hour))
		require.NoError(t, err)
		poll.Until(t, func() error { // Temporal's list of workflows lags behind
			if err := s.comparing().CompareWithTemporal(t.Context()); err != nil {
				return err
			}
			return s.hasStatus(t, workflowOf(id), enums.WORKFLOW_EXECUTION_STATUS_COMPLETED)
		})
		unconfirmed, err := s.App.DB.OrdersMissingWorkflow(t.Context(), time.Now(), 0, db.Position{}, 1)
		require.NoError(t, err)
		require.Empty(t, unconfirmed)
	})
}

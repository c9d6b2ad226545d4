package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	"golang.org/x/sync/errgroup"

	"despacho/activities"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// A Temporal that has lost its database has no reconcile schedule: the next worker creates it, and
// every open order gets its workflow from its row.
func TestRebuild_everyOpenOrderGetsItsWorkflow(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{})
		registered, received, delivered := s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key), s.CreateOrder(t, s.Key)
		for _, id := range []string{received, delivered} {
			s.receive(t, id)
		}
		s.assign(t, delivered, 0)
		s.deliver(t, delivered)
		for _, id := range []string{registered, received} {
			s.waitForStartConfirmed(t, id)
			require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(id), "", "lost"))
		}
		schedule := s.Temporal.ScheduleClient().GetHandle(t.Context(), workflows.ReconcileScheduleID(s.Config.TaskQueue))
		poll.Until(t, func() error { return schedule.Delete(t.Context()) })

		s.StartWorker(t)
		for _, id := range []string{registered, received} {
			poll.Until(t, func() error { // the reconcile workflow skips an order until orders.StartGracePeriod has passed
				s.reconcile(t)
				if status := s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Status; status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
					return fmt.Errorf("the workflow is %s", status)
				}
				return nil
			})
		}
		s.assign(t, received, 0)
		s.receive(t, registered)
		require.Equal(t, []string{"created", "received", "assigned"}, s.moveTypes(t, received))
	})
}

// A new release's definition of the schedule reaches an installation that has one already.
func TestSchedule_definitionIsUpdated(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	schedules, id := s.Temporal.ScheduleClient(), workflows.ReconcileScheduleID(s.Config.TaskQueue)
	handle, err := schedules.Create(t.Context(), client.ScheduleOptions{
		ID: id, Paused: true, Note: "paused by hand",
		Spec:   client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Hour}}},
		Action: &client.ScheduleWorkflowAction{ID: id, Workflow: workflows.ReconcileWorkflowName, TaskQueue: s.Config.TaskQueue},
	})
	require.NoError(t, err)
	s.StartWorker(t)
	var described *client.ScheduleDescription
	poll.Until(t, func() error {
		if described, err = handle.Describe(t.Context()); err != nil {
			return err
		}
		if every := described.Schedule.Spec.Intervals[0].Every; every != workflows.ReconcileEvery {
			return fmt.Errorf("the interval is %s", every)
		}
		return nil
	})
	require.Len(t, described.Schedule.Action.(*client.ScheduleWorkflowAction).Args, 1)
	require.Equal(t, enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE, described.Schedule.Policy.Overlap, "a run that takes longer than the interval is followed at once")
	require.True(t, described.Schedule.State.Paused, "what a person has set stays")
}

// failingStarts is a Temporal client that cannot start some workflows.
type failingStarts struct {
	client.Client
	failing func(workflowID string) bool
}

func (c failingStarts) ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	if c.failing(options.ID) {
		return nil, serviceerror.NewInvalidArgument("not this one")
	}
	return c.Client.ExecuteWorkflow(ctx, options, workflow, args...)
}

// Orders that fail again and again do not keep others from their turn, however many they are and
// however old.
func TestReconcile_nothingStarves(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{NoWorker: true})
		detached := s.withoutTemporal(t, time.Minute)
		const failing, healthy = activities.ReconcilePage + 20, 5
		createMany(t, detached, s.Key, failing)
		var ids []string
		for range healthy {
			ids = append(ids, detached.CreateOrder(t, s.Key))
		}
		temporal := failingStarts{s.Temporal, func(id string) bool { return !slices.Contains(ids, id[len(workflows.OrderWorkflowPrefix):]) }}
		started, err := s.reconciling(t, temporal).StartMissing(t.Context(), func() bool { return false })
		require.ErrorContains(t, err, "not this one")
		require.Equal(t, healthy, started)
		for _, id := range ids {
			require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Status)
		}
	})
}

// What fails in a pass keeps nothing else of it from being done, and fails the run.
func TestReconcile_doesWhatItCan(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	createMany(t, s.withoutTemporal(t, time.Minute), s.Key, 1)
	expired := models.IdempotencyRecord{ScopeID: s.Operator.ID, Key: "venta-1", BodyHash: []byte("hash"), LeaseToken: uuid.New()}
	require.NoError(t, s.App.DB.Insert(t.Context(), &expired))
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	a := s.reconciling(t, failingStarts{s.Temporal, func(string) bool { return true }})
	env.RegisterActivityWithOptions(a.Reconcile, activity.RegisterOptions{Name: workflows.ReconcileActivity})
	_, err := env.ExecuteActivity(workflows.ReconcileActivity, time.Duration(0))
	require.ErrorContains(t, err, "not this one")
	require.True(t, db.IsNotFound(s.App.DB.Query(t.Context()).Where("key = ?", expired.Key).Take(&expired).Error))
}

// reconciling has the activities of a reconcile run that starts workflows with another client.
func (s *service) reconciling(t *testing.T, temporal client.Client) *activities.Activities {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	service := orders.New(s.App.DB, db.NewCatalogCache(s.App.DB), temporal, clock.System(), log, orders.Options{TaskQueue: s.Config.TaskQueue})
	t.Cleanup(service.Close)
	return &activities.Activities{Orders: service, DB: s.App.DB, Clock: clock.System(), Log: log, LastPass: poll.Deadline}
}

// A run that has more to do than its time allows, or whose worker stops, ends after the orders that
// it has read, and does the rest of its work. The next run goes on.
func TestReconcile_moreThanARunCanDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		duration time.Duration
		stops    bool
	}{
		"its time is over": {duration: time.Nanosecond},
		"the worker stops": {duration: poll.Deadline, stops: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := boot(t, "", apptest.Options{NoWorker: true})
			rows := make([]models.Order, 2*activities.ReconcilePage+20)
			for i := range rows {
				rows[i] = s.Row(time.Now().Add(-time.Hour), func(o *models.Order) { o.WorkflowStartedAt = nil })
			}
			s.InsertRows(t, rows)
			s.insert(t, &models.RateWindow{Subject: "expired", Minute: 1, Used: 1})
			var asked sync.Map
			a := s.reconciling(t, failingStarts{s.Temporal, func(id string) bool {
				asked.Store(id, true)
				return true
			}})
			env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
			env.SetTestTimeout(poll.Deadline)
			env.RegisterActivity(a.Reconcile)
			stopping := make(chan struct{})
			if test.stops {
				close(stopping)
			}
			env.SetWorkerStopChannel(stopping)
			_, err := env.ExecuteActivity(a.Reconcile, test.duration)
			require.ErrorContains(t, err, "not this one")
			count := 0
			asked.Range(func(any, any) bool { count++; return true })
			require.Equal(t, activities.ReconcilePage, count, "one page")
			var expired int
			require.NoError(t, s.App.DB.SQL().QueryRow("SELECT COUNT(*) FROM rate_windows WHERE subject = 'expired'").Scan(&expired))
			require.Zero(t, expired)
		})
	}
}

// createMany creates orders, eight at a time.
func createMany(t *testing.T, s *apptest.Service, key string, count int) {
	t.Helper()
	var creating errgroup.Group
	creating.SetLimit(8)
	for range count {
		creating.Go(func() error {
			answer, err := s.Try(apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: key, Body: apptest.Order()})
			if err == nil && answer.Status != http.StatusCreated {
				err = errors.New(answer.Text)
			}
			return err
		})
	}
	require.NoError(t, creating.Wait())
}

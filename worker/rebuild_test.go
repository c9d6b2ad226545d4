package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"despacho/activities"
	"despacho/db"
	"despacho/internal/clock"
	"despacho/orders"
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
		const failing, healthy = 520, 5 // more than a page
		createMany(t, detached, s.Key, failing)
		var ids []string
		for range healthy {
			ids = append(ids, detached.CreateOrder(t, s.Key))
		}
		temporal := failingStarts{s.Temporal, func(id string) bool { return !slices.Contains(ids, id[len(workflows.OrderWorkflowPrefix):]) }}
		service := orders.New(s.App.DB, db.NewCatalogCache(s.App.DB), temporal, clock.System(), slog.New(slog.DiscardHandler), orders.Options{TaskQueue: s.Config.TaskQueue})
		t.Cleanup(service.Close)
		a := &activities.Activities{Orders: service, DB: s.App.DB, Clock: clock.System(), Log: slog.New(slog.DiscardHandler)}
		started, err := a.StartMissingOrders(t.Context())
		require.ErrorContains(t, err, "not this one")
		require.Equal(t, healthy, started)
		for _, id := range ids {
			require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Status)
		}
	})
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

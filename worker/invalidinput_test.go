package worker_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/activities"
	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// Signals from the Temporal UI or CLI whose content the API would refuse do not keep the order from
// its next move, with and without a webhook that is told of it.
func TestInvalidSignal_orderStillMoves(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		s.Register(t, s.Key, apptest.NewReceiver(t, nil))
		id := s.CreateOrder(t, s.Key)
		s.receive(t, id)
		s.assign(t, id, 0)
		for _, poison := range []struct{ name, content string }{
			{workflows.CancelName, `{"reason":"a\u0000b"}`},
			{workflows.CancelName, `{"note":"` + strings.Repeat("x", 1001) + `"}`},
			{workflows.CancelName, `{"reason":"` + strings.Repeat("x", 1<<16) + `"}`},
			{workflows.DeliveredName, `{"captured_at":"9999-12-31T23:59:59-12:00"}`},
			{workflows.DeliveredName, `{"captured_at":"0001-01-01T00:00:00+14:00"}`},
			{workflows.DeliveredName, `{"lat":1}`},
			{workflows.DeliveredName, `{"photo":"../../etc/passwd"}`},
			{workflows.AssignedName, `{"rider_id":"00000000-0000-0000-0000-000000000000"}`},
		} {
			require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", poison.name, rawJSON(poison.content)))
		}
		s.assign(t, id, 1)
		s.deliver(t, id)
		s.waitForOrderEnd(t, id)
	})
}

// rawJSON is a payload as the Temporal CLI sends it.
type rawJSON string

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// Only an outage is retried. A defect, data that the database refuses and an order that does not
// exist are final.
func TestActivities_finalErrorsAreNotRetried(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		healthy := &activities.Activities{Orders: s.App.Orders, Log: slog.New(slog.DiscardHandler)}
		id := uuid.MustParse(s.CreateOrder(t, s.Key))
		move := workflows.ApplyMoveInput{
			OrderID: id, EntryID: uuid.New(), Seq: 2, Move: models.MoveReceive, By: models.ByOperator, To: models.StatusReceived,
			At: time.Now().UTC(), Message: models.Message{BranchID: &s.Other.ID},
		}
		missing := move
		missing.OrderID = uuid.New()
		invalid := move
		invalid.To = models.Status(strings.Repeat("x", 1000))
		for name, c := range map[string]struct {
			run  func() error
			want string
		}{
			"an order that does not exist, read":  {func() error { _, err := healthy.LoadOrder(t.Context(), uuid.New()); return err }, "OrderMissing"},
			"an order that does not exist, moved": {func() error { _, err := healthy.ApplyMove(t.Context(), missing); return err }, "OrderMissing"},
			"data that the database refuses":      {func() error { _, err := healthy.ApplyMove(t.Context(), invalid); return err }, "NotStored"},
			"a panic": {func() error {
				_, err := (&activities.Activities{Log: healthy.Log}).ApplyMove(t.Context(), move)
				return err
			}, "NotStored"},
		} {
			var application *temporal.ApplicationError
			require.ErrorAs(t, c.run(), &application, name)
			require.Equal(t, c.want, application.Type(), name)
			require.True(t, application.NonRetryable(), name)
		}
		_, err := healthy.ApplyMove(t.Context(), move)
		require.NoError(t, err)
	})
}

// The workflow of an order that is not in the database, as after a restored backup, ends and can be
// seen to have failed.
func TestOrder_withoutARowFails(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := uuid.New()
		run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: workflows.OrderWorkflowID(id), TaskQueue: s.Config.TaskQueue,
		}, workflows.OrderWorkflowName, workflows.OrderInput{OrderID: id, Snapshot: &workflows.Snapshot{
			State: models.State{Status: models.StatusReceived}, Seq: 2, GuideCode: "7K2QX-M4TN8C",
		}})
		require.NoError(t, err)
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), run.GetID(), "", workflows.RefreshName, nil))
		require.ErrorContains(t, run.Get(t.Context(), nil), "OrderMissing")
	})
}

// A worker died after it had written a move: the row is ahead of the workflow. The next move is
// decided on the row, not refused on what the workflow remembers.
func TestMove_ofARowAheadOfItsWorkflow(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		receiver := apptest.NewReceiver(t, nil)
		s.Register(t, s.Key, receiver)
		id := s.CreateOrder(t, s.Key)
		s.receive(t, id)
		s.waitForStartConfirmed(t, id)
		_, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
			OrderID: uuid.MustParse(id), EntryID: uuid.New(), Seq: 3, Move: models.MoveAssign, By: models.ByOperator, To: models.StatusAssigned,
			At: time.Now().UTC().Truncate(time.Microsecond), Message: models.Message{RiderID: &s.Riders[0].ID},
		})
		require.NoError(t, err)
		s.deliver(t, id)
		events := receiver.WaitFor(t, 3)
		require.Equal(t, []string{"order.created", "order.assigned", "order.delivered"}, []string{events[0].Event, events[1].Event, events[2].Event})
		require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, id))
		s.waitForOrderEnd(t, id)
	})
}

// The same for an assignment that the workflow takes for made already.
func TestAssign_ofARowAheadOfItsWorkflow(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.receive(t, id)
		s.assign(t, id, 0)
		s.waitForStartConfirmed(t, id)
		_, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
			OrderID: uuid.MustParse(id), EntryID: uuid.New(), Seq: 4, Move: models.MoveAssign, By: models.ByOperator, To: models.StatusAssigned,
			At: time.Now().UTC().Truncate(time.Microsecond), Message: models.Message{RiderID: &s.Riders[1].ID},
		})
		require.NoError(t, err)
		assigned := s.assign(t, id, 0)
		require.Equal(t, s.Riders[0].Name, assigned.Data["rider"].(map[string]any)["name"])
		require.Equal(t, []string{"created", "received", "assigned", "assigned", "assigned"}, s.moveTypes(t, id))
	})
}

// A move that was answered 503 and whose deadline has passed is not made when a worker comes back.
func TestDeadline_noMoveAfterA503(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{NoWorker: true})
		hasty := s.secondProcess(t, apptest.Options{Configure: func(c *config.Config) {
			c.Timeouts.Move, c.Timeouts.MoveDeadline = time.Second, time.Millisecond
		}})
		id := s.CreateOrder(t, s.Key)
		answer := hasty.Do(t, moveRequest(s, id, "receive", nil))
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
		s.StartWorker(t)
		cancelled := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: s.Key})
		require.Equal(t, http.StatusOK, cancelled.Status, cancelled.Text)
		require.Equal(t, []string{"created", "cancelled"}, s.moveTypes(t, id))
	})
}

// Whoever repeats a request that was answered 503 waits for the one that is still under way and
// hears its outcome. A cancel is refused where it comes second.
func TestMove_aRepeatedRequestHearsTheOutcome(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{NoWorker: true})
		hasty := s.secondProcess(t, apptest.Options{Configure: shortMoveTimeout})
		id := s.CreateOrder(t, s.Key)
		cancel := apptest.Request{Method: http.MethodPatch, Path: "/v1/orders/" + id + "/cancel", Key: s.Key, Body: map[string]any{"reason": "sin stock"}}
		answer := hasty.Do(t, cancel)
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
		repeated := allAtOnce(s.Service, []apptest.Request{cancel})
		s.waitForCall(t, "UpdateWorkflowExecution") // before the worker moves the order
		s.StartWorker(t)
		heard := <-repeated
		require.NoError(t, heard.err)
		require.Equal(t, http.StatusOK, heard.Status, heard.Text)
		require.Equal(t, []string{"created", "cancelled"}, s.moveTypes(t, id))
		again := s.Do(t, cancel)
		require.Equal(t, http.StatusBadRequest, again.Status, again.Text)
	})
}

// waitForCall returns when the service has called an operation of Temporal, by its own metrics.
func (s *service) waitForCall(t *testing.T, operation string) {
	t.Helper()
	poll.Until(t, func() error {
		answer := httptest.NewRecorder()
		s.App.Metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
		if !strings.Contains(answer.Body.String(), `operation="`+operation+`"`) {
			return fmt.Errorf("%s was not called yet", operation)
		}
		return nil
	})
}

// A terminated workflow is started again by the order's next move.
func TestOrder_terminatedByHand(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.receive(t, id)
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(id), "", "by hand"))
		s.assign(t, id, 0)
		s.deliver(t, id)
		s.waitForOrderEnd(t, id)
		require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, id))
	})
}

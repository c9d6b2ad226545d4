package worker_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"despacho/internal/orders"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
	"despacho/workflows"
)

// newTestOrder creates a test order that is auto-cancelled, received late, assigned and delivered.
func (s *service) newTestOrder(t *testing.T) (id string, advance func() *apptest.Answer) {
	t.Helper()
	return s.newTestOrderOf(t, "006")
}

// newTestOrderOf creates a test order of a scenario.
func (s *service) newTestOrderOf(t *testing.T, digits string) (id string, advance func() *apptest.Answer) {
	t.Helper()
	key := s.NewKey(t, models.APIKey{Test: true})
	created := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: key, Body: apptest.Order(map[string]any{"recipient_phone": "987650" + digits})})
	require.Equal(t, http.StatusCreated, created.Status, created.Text)
	id = created.String("id")
	return id, func() *apptest.Answer {
		return s.Do(t, apptest.Request{Method: "POST", Path: "/v1/test/orders/" + id + "/advance", Key: key})
	}
}

// A step that was refused is made by the next advance, once it can be made: Temporal's record of
// the first one is not the answer.
func TestAdvance_afterAStepThatWasRefused(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		_, advance := s.newTestOrder(t)
		riders := orders.TestRiders(s.Operator.ID, s.Operator.CreatedAt)
		for i := range riders {
			riders[i].Test = false
		}
		require.NoError(t, s.App.DB.InsertMissing(t.Context(), &riders))
		answer := advance()
		for answer.Status == http.StatusOK {
			require.NotEqual(t, "assigned", answer.Data["status"])
			answer = advance()
		}
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
		_, err := s.App.DB.SQL().Exec("UPDATE riders SET test = TRUE WHERE operator_id = $1 AND NOT active", s.Operator.ID)
		require.NoError(t, err)
		answer = advance()
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		require.Contains(t, []any{"assigned", "delivered"}, answer.Data["status"])
	})
}

// A worker died after it had written a step: the row is ahead of the workflow. The next advance
// makes the step that comes after the row's.
func TestAdvance_ofARowAheadOfItsWorkflow(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, advance := s.newTestOrder(t)
		s.waitForStartConfirmed(t, id)
		_, err := s.App.Orders.Apply(t.Context(), workflows.ApplyMoveInput{
			OrderID: uuid.MustParse(id), EntryID: uuid.New(), Seq: 2, Move: models.MoveCancel, By: models.ByAuto, To: models.StatusCancelled,
			At: time.Now().UTC().Truncate(time.Microsecond),
		})
		require.NoError(t, err)
		answer := advance()
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		require.Contains(t, []any{"received", "assigned", "delivered"}, answer.Data["status"])
	})
}

// A simulation that was terminated between the auto-cancel and the late reception is started again
// by the next advance, and goes on with the step that comes then.
func TestAdvance_terminatedBeforeTheRevival(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, advance := s.newTestOrder(t)
		require.Equal(t, "cancelled", advance().Data["status"])
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), simulationOf(id), "", "by hand"))
		answer := advance()
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		s.waitForTestStatus(t, id, models.StatusDelivered)
		require.Equal(t, []string{"created", "cancelled", "received", "assigned", "delivered"}, s.moveTypes(t, id))
	})
}

// The simulation of a test order that is never received ends with the auto-cancel. There is no next
// step, and no other run is started to say so.
func TestAdvance_afterTheLastStep(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, advance := s.newTestOrderOf(t, "005")
		require.Equal(t, "cancelled", advance().Data["status"])
		s.waitForOrderEnd(t, id)
		ended := s.waitForEnd(t, simulationOf(id))
		answer := advance()
		require.Equal(t, http.StatusConflict, answer.Status, answer.Text)
		require.Equal(t, "no_next_step", answer.Code)
		require.Equal(t, ended, s.waitForEnd(t, simulationOf(id)))
	})
}

// A cancelled test order ends its simulation, whose next step changes nothing.
func TestSimulation_endsWithACancelledOrder(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, _ := s.newTestOrderOf(t, "005")
		s.waitForStartConfirmed(t, id)
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", workflows.CancelName, nil))
		s.waitForTestStatus(t, id, models.StatusCancelled)
		s.requestStep(t, id, 2)
		s.waitForEnd(t, simulationOf(id))
		require.Equal(t, []string{"created", "cancelled"}, s.moveTypes(t, id))
	})
}

// The order of a process that could not reach Temporal is moved too: reconcile starts both
// workflows.
func TestSimulation_startedByReconcile(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := boot(t, databaseURL, apptest.Options{})
		away := s.withoutTemporal(t, 2*orders.StartGracePeriod)
		key := s.NewKey(t, models.APIKey{Test: true})
		created := away.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: key, Body: apptest.Order(map[string]any{"recipient_phone": "987650001"})})
		require.Equal(t, http.StatusCreated, created.Status, created.Text)
		s.reconcile(t)
		s.waitForTestStatus(t, created.String("id"), models.StatusDelivered)
	})
}

// simulationOf is the id of the simulation of a test order.
func simulationOf(orderID string) string {
	return workflows.SimulationWorkflowID(uuid.MustParse(orderID))
}

// requestStep asks the simulation of a test order for its next step.
func (s *service) requestStep(t *testing.T, orderID string, seq int) {
	t.Helper()
	handle, err := s.Temporal.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: simulationOf(orderID), UpdateName: workflows.AdvanceName, Args: []any{seq}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(t, err)
	require.True(t, workflows.IsNoNextStep(handle.Get(t.Context(), nil)))
}

// waitForTestStatus returns once a test order, which no live key reads, has the status.
func (s *service) waitForTestStatus(t *testing.T, id string, status models.Status) {
	t.Helper()
	poll.Until(t, func() error {
		order, err := s.App.DB.OrderViewByID(t.Context(), uuid.MustParse(id))
		if err == nil && order.Status != status {
			err = fmt.Errorf("the order is %s, not %s", order.Status, status)
		}
		return err
	})
}

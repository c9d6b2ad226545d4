package worker_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
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
		setTestRiders := func(test bool) {
			_, err := s.App.DB.SQL().Exec("UPDATE riders SET test = $1 WHERE operator_id = $2 AND NOT active", test, s.Operator.ID)
			require.NoError(t, err)
		}
		setTestRiders(false)
		answer := advance()
		for answer.Status == http.StatusOK {
			require.NotEqual(t, "assigned", answer.Data["status"])
			answer = advance()
		}
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Text)
		setTestRiders(true)
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
			OrderID: uuid.MustParse(id), EntryID: uuid.New(), Seq: 2, Move: models.MoveAutoCancel, By: models.ByAuto, To: models.StatusCancelled,
			At: time.Now().UTC().Truncate(time.Microsecond),
		})
		require.NoError(t, err)
		answer := advance()
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		require.Contains(t, []any{"received", "assigned", "delivered"}, answer.Data["status"])
	})
}

// A workflow that was terminated between the auto-cancel and the late reception leaves the rest of
// the steps to the next advance.
func TestAdvance_terminatedBeforeTheRevival(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, advance := s.newTestOrder(t)
		require.Equal(t, "cancelled", advance().Data["status"])
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(id), "", "by hand"))
		answer := advance()
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		s.waitForTestStatus(t, id, models.StatusDelivered)
		require.Equal(t, []string{"created", "cancelled", "received", "assigned", "delivered"}, s.moveTypes(t, id))
	})
}

// The workflow of a test order that is never received ends with the auto-cancel. There is no next
// step, and no other run is started to say so.
func TestAdvance_afterTheLastStep(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, advance := s.newTestOrderOf(t, "005")
		require.Equal(t, "cancelled", advance().Data["status"])
		_, ended := s.waitForOrderEnd(t, id)
		answer := advance()
		require.Equal(t, http.StatusConflict, answer.Status, answer.Text)
		require.Equal(t, "no_next_step", answer.Code)
		_, after := s.waitForOrderEnd(t, id)
		require.Equal(t, ended, after)
	})
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

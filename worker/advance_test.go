package worker_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/workflows"
)

// newTestOrder creates a test order that is auto-cancelled, received late, assigned and delivered.
func (s *service) newTestOrder(t *testing.T) (id string, advance func() *apptest.Answer) {
	t.Helper()
	key := s.NewKey(t, models.APIKey{Test: true})
	created := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: key, Body: apptest.Order(map[string]any{"recipient_phone": "987650006"})})
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

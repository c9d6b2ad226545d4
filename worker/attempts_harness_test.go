package worker_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// streetMoves are moves of the panel with their paths and bodies, by a word of their own.
var streetMoves = map[string]struct {
	path string
	body any
}{
	"receive":   {"receive", nil},
	"deliver":   {"deliver", nil},
	"fail":      {"attempt", map[string]any{"reason": models.FailedAbsent}},
	"retry":     {"decision", map[string]any{"decision": "retry"}},
	"return":    {"decision", map[string]any{"decision": "return"}},
	"hand-back": {"hand-back", nil},
	"undo":      {"undo", map[string]any{"reason": "era otro paquete"}},
}

// make makes moves of an order one after the other; "wait" has nobody decide about it.
func (s *service) make(t *testing.T, orderID string, moves ...string) (answer *apptest.Answer) {
	t.Helper()
	for _, move := range moves {
		switch move {
		case "wait":
			s.decideByNobody(t, orderID)
			continue
		case "assign":
			answer = s.assign(t, orderID, 0)
			continue
		}
		request := streetMoves[move]
		answer = s.move(t, orderID, request.path, request.body)
		require.Equal(t, http.StatusOK, answer.Status, "%s: %s", move, answer.Text)
	}
	return answer
}

// withAllEvents registers a webhook for every event of an order.
func (s *service) withAllEvents(t *testing.T) *apptest.Receiver {
	t.Helper()
	receiver := apptest.NewReceiver(t, nil)
	s.Register(t, s.Key, receiver, map[string]any{"events": models.OrderEvents})
	return receiver
}

// drive takes an order through moves that end it.
func (s *service) drive(t *testing.T, moves ...string) (workflowID, runID string) {
	t.Helper()
	s.withAllEvents(t)
	id := s.CreateOrder(t, s.Key, personalData)
	s.make(t, id, moves...)
	return s.waitForOrderEnd(t, id)
}

// decideByNobody has the timer decide about an order whose attempt has failed. By the rules of
// every operator that is hours away: the deadline is brought forward in the row, and the workflow
// gets it with the next move, which brings the package back.
func (s *service) decideByNobody(t *testing.T, orderID string) *apptest.Answer {
	t.Helper()
	_, err := s.App.DB.SQL().ExecContext(t.Context(), "UPDATE orders SET decision_deadline = $1 WHERE id = $2",
		time.Now().Add(time.Second).UTC().Truncate(time.Microsecond), orderID)
	require.NoError(t, err)
	s.make(t, orderID, "receive")
	return s.waitForSubstatus(t, orderID, models.SubstatusRetryPlanned)
}

// waitForSubstatus returns the order once it has the substatus.
func (s *service) waitForSubstatus(t *testing.T, orderID string, substatus models.Substatus) (order *apptest.Answer) {
	t.Helper()
	poll.Until(t, func() error {
		if order = s.order(t, orderID); order.String("substatus") != string(substatus) {
			return fmt.Errorf("the order is %s %s", order.String("status"), order.String("substatus"))
		}
		return nil
	})
	return order
}

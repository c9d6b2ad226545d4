package worker_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/workflows"
)

// Nobody decides until the deadline: the operator's rule does, by the timer, and the order is
// listed for a day. Who decides too late is refused.
func TestDecision_byNobody(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		receiver := s.withAllEvents(t)
		id := s.CreateOrder(t, s.KeyA)
		s.make(t, id, "receive", "assign", "fail")
		order := s.order(t, id)
		require.Equal(t, "attempt_failed", order.String("substatus"))
		require.NotEmpty(t, order.String("decision_deadline"))
		order = s.decideByNobody(t, id)
		require.Nil(t, order.Data["decision_deadline"])
		require.NotEmpty(t, order.String("next_attempt_on"))
		answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders/" + id + "/decision", Key: s.KeyA,
			Body: map[string]any{"decision": "return"}})
		require.Equal(t, http.StatusConflict, answer.Status, answer.Text)
		require.Equal(t, string(models.ByAuto), s.latestEntry(t, id).By)
		s.make(t, id, "assign", "deliver")
		require.Equal(t, []string{"order.created", "order.assigned", "order.attempt_failed", "order.updated", "order.assigned",
			"order.delivered"}, eventNames(receiver.WaitFor(t, 6)))
	})
}

// A store that decides in time stops the timer.
func TestDecision_inTime(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.KeyA)
		s.make(t, id, "receive", "assign", "fail")
		answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders/" + id + "/decision", Key: s.KeyA,
			Body: map[string]any{"decision": "return"}})
		require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		require.Equal(t, "returning", answer.String("substatus"))
		s.waitForIdle(t, id)
		require.Zero(t, pendingTimers(s.historyOf(t, workflowOf(id), "")))
		s.make(t, id, "receive", "hand-back")
		require.Equal(t, "returned", s.order(t, id).String("substatus"))
		s.waitForOrderEnd(t, id)
	})
}

// However late the run of an undecided order starts, the deadline counts from its failed attempt.
func TestDecision_aLateRunKeepsTheDeadline(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.make(t, id, "receive", "assign", "fail")
		deadline := timeOf(t, s.order(t, id), "decision_deadline")
		s.waitForStartConfirmed(t, id)
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflowOf(id), "", "lost"))
		require.NoError(t, s.App.Orders.Reconcile(t.Context(), uuid.MustParse(id)))
		s.waitForIdle(t, id)
		timers := timersOf(s.historyOf(t, workflowOf(id), ""))
		require.Len(t, timers, 1)
		timers[0].requireSetFor(t, deadline)
		s.make(t, id, "wait")
	})
}

// After a restore an undecided order waits for the same deadline, and is decided as before.
func TestRestored_pendingDecision(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.KeyA)
		s.make(t, id, "receive", "assign", "fail", "receive")
		deadline := timeOf(t, s.order(t, id), "decision_deadline")
		s.waitForStartConfirmed(t, id)
		s.setUpdatedAnHourAgo(t)
		s.reconcileAfterRestore(t, workflowOf(id))
		s.reconcileUntilStatus(t, workflowOf(id), enums.WORKFLOW_EXECUTION_STATUS_RUNNING)
		s.waitForIdle(t, id)
		timers := timersOf(s.historyOf(t, workflowOf(id), ""))
		require.Len(t, timers, 1)
		timers[0].requireSetFor(t, deadline)
		s.make(t, id, "retry", "assign", "deliver")
		require.Equal(t, "delivered", s.order(t, id).String("status"))
	})
}

// A delivery is taken back after its workflow has completed: a new run carries the order on. Who
// asked for it is told what changed, and nobody hears of an assignment again.
func TestUndo_deliveryOfACompletedWorkflow(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		receiver := s.withAllEvents(t)
		id := s.CreateOrder(t, s.Key)
		s.make(t, id, "receive", "assign", "deliver")
		_, first := s.waitForOrderEnd(t, id)
		order := s.make(t, id, "undo")
		require.Equal(t, "assigned", order.String("status"))
		require.Nil(t, order.Data["delivered_at"])
		require.NotNil(t, order.Data["rider"])
		s.waitForIdle(t, id)
		require.Contains(t, s.details(t, id), "**En reparto**")
		s.make(t, id, "deliver")
		_, second := s.waitForOrderEnd(t, id)
		require.NotEqual(t, first, second)
		require.Equal(t, []string{"order.created", "order.assigned", "order.delivered", "order.updated", "order.delivered"},
			eventNames(receiver.WaitFor(t, 5)))
	})
}

// It is taken back also when Temporal does not keep the history of its workflow any more.
func TestUndo_deliveryWhoseHistoryWasDeleted(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.make(t, id, "receive", "assign", "deliver")
		workflowID, runID := s.waitForOrderEnd(t, id)
		_, err := s.Temporal.WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: client.DefaultNamespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: workflowID, RunId: runID},
		})
		require.NoError(t, err)
		poll.Until(t, func() error {
			_, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflowID, "")
			var gone *serviceerror.NotFound
			if !errors.As(err, &gone) {
				return fmt.Errorf("its history is still there: %w", err)
			}
			return nil
		})
		require.Equal(t, "assigned", s.make(t, id, "undo").String("status"))
		s.make(t, id, "deliver")
		s.waitForOrderEnd(t, id)
	})
}

// Many take a delivery back at once, in two processes: one does, the others are told that there is
// nothing to take back.
func TestUndo_manyAtOnce(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *service) {
		other := s.secondProcess(t, apptest.Options{})
		id := s.CreateOrder(t, s.Key)
		s.make(t, id, "receive", "assign", "deliver")
		var undos []apptest.Request // each for a reason of its own: the same request twice is one
		for i := range 6 {
			undos = append(undos, moveRequest(s, id, "undo", map[string]any{"reason": fmt.Sprint("era otro paquete ", i)}))
		}
		here, there := allAtOnce(s.Service, undos[:3]), allAtOnce(other, undos[3:])
		statuses := map[int]int{}
		for range 3 {
			for _, answers := range []<-chan attemptResult{here, there} {
				answer := <-answers
				require.NoError(t, answer.err)
				statuses[answer.Status]++
			}
		}
		require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusConflict: 5}, statuses)
		require.Equal(t, []string{"created", "received", "assigned", "delivered", "undone"}, s.moveTypes(t, id))
		require.Equal(t, "assigned", s.order(t, id).String("status"))
	})
}

// A worker that writes an undo and dies leaves a workflow that does not know: the next move finds
// it, or reconcile starts the run that an order needs again. The same undo is written once.
func TestUndo_writtenByAWorkerThatDied(t *testing.T) {
	for name, c := range map[string]struct {
		moves, then, want []string
		status            models.Status
	}{
		"an assignment, then the next move": {
			moves: []string{"receive", "assign"}, status: models.StatusReceived,
			then: []string{"assign", "deliver"}, want: []string{"assigned", "undone", "assigned", "delivered"},
		},
		"an attempt, whose timer must not decide": {
			moves: []string{"receive", "assign", "fail"}, status: models.StatusAssigned,
			then: []string{"deliver"}, want: []string{"assigned", "attempt_failed", "undone", "delivered"},
		},
		"a delivery, without a run": {
			moves: []string{"receive", "assign", "deliver"}, status: models.StatusAssigned,
			then: []string{"deliver"}, want: []string{"assigned", "delivered", "undone", "delivered"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *service) {
				id := s.CreateOrder(t, s.Key)
				s.make(t, id, c.moves...)
				s.waitForStartConfirmed(t, id)
				seq := len(c.moves) + 2
				undone := workflows.ApplyMoveInput{OrderID: uuid.MustParse(id), EntryID: uuid.New(), Seq: seq, Move: models.MoveUndo,
					By: models.ByOperator, At: time.Now().UTC().Truncate(time.Microsecond), Message: models.Message{Reason: "era otro"}}
				for range 2 {
					result, err := s.App.Orders.Apply(t.Context(), undone)
					require.NoError(t, err)
					require.True(t, result.Written)
					require.Equal(t, c.status, result.Current.Status)
					require.Equal(t, seq, result.Current.Seq)
				}
				require.NoError(t, s.App.Orders.Reconcile(t.Context(), uuid.MustParse(id)))
				s.make(t, id, c.then...)
				require.Equal(t, c.want, s.moveTypes(t, id)[2:])
				s.waitForOrderEnd(t, id)
			})
		})
	}
}

// latestEntry is the entry of an order's latest move.
func (s *service) latestEntry(t *testing.T, orderID string) models.TimelineEntry {
	t.Helper()
	var latest models.TimelineEntry
	for _, entry := range dbtest.Rows[models.TimelineEntry](t, s.App.DB, "order_id = ? AND seq IS NOT NULL", orderID) {
		if latest.Seq == nil || *entry.Seq > *latest.Seq {
			latest = entry
		}
	}
	return latest
}

// eventNames are the names of received events.
func eventNames(received []apptest.Received) (names []string) {
	for _, event := range received {
		names = append(names, event.Event)
	}
	return names
}

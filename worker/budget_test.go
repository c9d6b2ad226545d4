package worker_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"

	"despacho/internal/apptest"
)

// cost is what a run took of Temporal.
type cost struct{ events, actions int }

// What a whole life costs when every step is told before the next is made, which is the most it can take.
var (
	budgetWithWebhook    = cost{events: 43, actions: 11}
	budgetWithoutWebhook = cost{events: 25, actions: 8}
)

func TestBudget_aWholeLife(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		for name, c := range map[string]struct {
			webhook bool
			want    cost
		}{
			"with one webhook on every event": {true, budgetWithWebhook},
			"with no webhook":                 {false, budgetWithoutWebhook},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := s.another(t)
				if c.webhook {
					s.Register(t, s.Key, apptest.NewReceiver(t, nil))
				}
				events := s.wholeLife(t)
				for tries := 1; disturbed(events) && tries < 5; tries++ {
					events = s.wholeLife(t)
				}
				spent := costOf(events)
				t.Logf("%d events, %d actions", spent.events, spent.actions)
				require.Equal(t, c.want, spent)
			})
		}
	})
}

// wholeLife has an order created, received, assigned and delivered, every step told before the next, and returns its history.
func (s *service) wholeLife(t *testing.T) *history.History {
	t.Helper()
	id := s.CreateOrder(t, s.Key)
	s.waitForQuiet(t, id)
	s.receive(t, id)
	s.waitForQuiet(t, id)
	s.assign(t, id, 0)
	s.waitForQuiet(t, id)
	s.deliver(t, id)
	return s.historyOf(t, workflowOf(id), s.waitForEnd(t, workflowOf(id)))
}

// disturbed reports whether the machine was too busy for the worker to answer a workflow task in time, which costs events of its own.
func disturbed(h *history.History) bool {
	return slices.ContainsFunc(h.Events, func(event *history.HistoryEvent) bool {
		return event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT
	})
}

// costOf counts a run's events and its billable actions: a start, a timer, a signal, an update, an activity attempt, a search-attribute upsert, a side
// effect; all local activities of one workflow task count one together.
func costOf(h *history.History) cost {
	c := cost{events: len(h.Events)}
	tasksWithLocalActivities := map[int64]bool{}
	for _, event := range h.Events {
		switch event.EventType {
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enums.EVENT_TYPE_TIMER_STARTED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
			enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			c.actions++
		case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			c.actions += int(event.GetActivityTaskStartedEventAttributes().Attempt)
		case enums.EVENT_TYPE_MARKER_RECORDED:
			marker := event.GetMarkerRecordedEventAttributes()
			if marker.MarkerName == "LocalActivity" {
				tasksWithLocalActivities[marker.WorkflowTaskCompletedEventId] = true
			} else {
				c.actions++
			}
		}
	}
	c.actions += len(tasksWithLocalActivities)
	return c
}

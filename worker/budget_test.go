package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"despacho/test/apptest"
	"despacho/test/lifecost"
	"despacho/test/poll"
	"despacho/workflows"
)

// The cost of a full lifecycle when every webhook call completes before the next move, which is the
// maximum.
var (
	budgetWithWebhook    = lifecost.Cost{Events: 43, Actions: 11}
	budgetWithoutWebhook = lifecost.Cost{Events: 25, Actions: 8}
	// The same with one failed attempt, whose decision the operator takes, a package that is brought
	// back, and a second assignment; the webhook has asked for every event.
	budgetOfASecondAttempt              = lifecost.Cost{Events: 87, Actions: 23}
	budgetOfASecondAttemptWithNoWebhook = lifecost.Cost{Events: 51, Actions: 17}
)

// Moves of a plain life, and of one with a failed attempt.
var (
	plainLife     = []string{"receive", "assign", "deliver"}
	secondAttempt = []string{"receive", "assign", "fail", "retry", "receive", "assign", "deliver"}
)

// The worker has a version, as released workers have.
func TestBudget_fullLifecycle(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{BuildID: "1"}, func(t *testing.T, own *apptest.Service) {
		deleteSchedule(t, own)
		s := &service{Service: own}
		for name, c := range map[string]struct {
			webhook bool
			moves   []string
			want    lifecost.Cost
		}{
			"with one webhook on every event":    {true, plainLife, budgetWithWebhook},
			"with no webhook":                    {false, plainLife, budgetWithoutWebhook},
			"a second attempt, with one webhook": {true, secondAttempt, budgetOfASecondAttempt},
			"a second attempt, with no webhook":  {false, secondAttempt, budgetOfASecondAttemptWithNoWebhook},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := s.secondOperator(t)
				if c.webhook {
					s.withAllEvents(t)
				}
				var events *history.History
				poll.Until(t, func() error {
					if events = s.lifecycle(t, c.moves...); lifecost.Disturbed(events) {
						return errors.New("the worker was too slow to answer a workflow task, which costs events of its own")
					}
					return nil
				})
				require.Equal(t, []string{"1"}, completedBy(events))
				spent := lifecost.Of(events)
				t.Logf("%d events, %d actions", spent.Events, spent.Actions)
				require.Equal(t, c.want, spent)
			})
		}
	})
}

// A scheduled run of the reconcile workflow costs two actions, so that an idle service stays under
// 6,000 a day.
func TestBudget_idle(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: s.Config.TaskQueue},
			workflows.ReconcileWorkflowName, workflows.ReconcileInput{For: time.Millisecond})
		require.NoError(t, err)
		require.NoError(t, run.Get(t.Context(), nil))
		spent := lifecost.Of(s.historyOf(t, run.GetID(), run.GetRunID()))
		require.Equal(t, 2, spent.Actions)
		require.LessOrEqual(t, spent.ADay(workflows.ReconcileEvery), 6000)
	})
}

// lifecycle creates an order and moves it to its end, with every webhook call completed before the
// next move, and returns its history.
func (s *service) lifecycle(t *testing.T, moves ...string) *history.History {
	t.Helper()
	id := s.CreateOrder(t, s.Key)
	for _, move := range moves {
		s.waitForIdle(t, id)
		s.make(t, id, move)
	}
	return s.historyOf(t, workflowOf(id), s.waitForEnd(t, workflowOf(id)))
}

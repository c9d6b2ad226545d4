package worker_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/worker"
	"despacho/workflows"
)

// Signals of different names are handled in the sequence in which they were sent, also if all of
// them have waited for a worker.
func TestSignals_inTheSequenceOfTheHistory(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	id := s.startedOrder(t, s.Key)
	s.receive(t, id)
	s.StopWorker()
	signal := func(name string, message models.Message) {
		require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", name, message))
	}
	signal(workflows.AssignedName, models.Message{RiderID: &s.Riders[0].ID})
	signal(workflows.DeliveredName, models.Message{})
	signal(workflows.CancelName, models.Message{})
	s.StartWorker(t)
	s.waitForStatus(t, id, "delivered")
	s.waitForOrderEnd(t, id)
	require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, id))
}

// conditions counts how often the condition that a run waits for is asked.
type conditions struct {
	interceptor.WorkerInterceptorBase
	asked int
}

func (c *conditions) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &countedInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, c}
}

type countedInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	*conditions
}

func (c *countedInbound) Init(out interceptor.WorkflowOutboundInterceptor) error {
	return c.Next.Init(&countedOutbound{interceptor.WorkflowOutboundInterceptorBase{Next: out}, c.conditions})
}

type countedOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	*conditions
}

func (c *countedOutbound) Await(ctx workflow.Context, condition func() bool) error {
	return c.Next.Await(ctx, func() bool {
		c.asked++
		return condition()
	})
}

// A replay of four times as many moves takes four times the work: nothing waits for each webhook
// call, and no more than one condition is asked at a step.
func TestReplay_isLinear(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{})
	s.Register(t, s.Key, apptest.NewReceiver(t, nil))
	work := func(moves int) int {
		id := s.startedOrder(t, s.Key)
		s.receive(t, id)
		for i := range moves {
			message := models.Message{RiderID: &s.Riders[i%2].ID}
			require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", workflows.AssignedName, message))
		}
		poll.Until(t, func() error {
			if made := len(s.moveTypes(t, id)); made != 2+moves {
				return fmt.Errorf("%d entries", made)
			}
			return nil
		})
		s.waitForIdle(t, id)
		return conditionsAsked(t, s.historyOf(t, workflowOf(id), ""))
	}
	few, many := work(100), work(400)
	require.Greater(t, few, 100)
	require.LessOrEqual(t, float64(many), 4.4*float64(few))
}

func conditionsAsked(t *testing.T, events *history.History) int {
	t.Helper()
	counted := &conditions{}
	replayer, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{
		Interceptors: []interceptor.WorkerInterceptor{counted, &workflows.SignalOrder{}},
	})
	require.NoError(t, err)
	worker.Register(replayer)
	require.NoError(t, replayer.ReplayWorkflowHistory(nil, events))
	return counted.asked
}

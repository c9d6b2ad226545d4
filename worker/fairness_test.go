package worker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"despacho/test/apptest"
	"despacho/test/poll"
)

// An operator's order does not wait for all orders that another operator has created before it.
func TestFairness_operatorsTakeTurns(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{NoWorker: true})
	const before = 60
	var ids []string
	for range before {
		ids = append(ids, s.CreateOrder(t, s.Key))
	}
	other := s.secondOperator(t)
	late := other.CreateOrder(t, other.Key)
	ids = append(ids, late)
	poll.Until(t, func() error {
		described, err := s.Temporal.WorkflowService().DescribeTaskQueue(t.Context(), &workflowservice.DescribeTaskQueueRequest{
			Namespace: client.DefaultNamespace, TaskQueue: &taskqueue.TaskQueue{Name: s.Config.TaskQueue},
			TaskQueueType: enums.TASK_QUEUE_TYPE_WORKFLOW, ReportStats: true,
		})
		if waiting := described.GetStats().GetApproximateBacklogCount(); err == nil && waiting < before+1 {
			err = fmt.Errorf("%d of %d orders wait for a worker", waiting, before+1)
		}
		return err
	})

	s.StartWorker(t)
	began := map[string]time.Time{}
	for _, id := range ids {
		s.waitForIdle(t, id)
		for _, event := range s.historyOf(t, workflowOf(id), "").Events {
			if event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_STARTED {
				began[id] = event.EventTime.AsTime()
				break
			}
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return began[a].Compare(began[b]) })
	require.Less(t, slices.Index(ids, late), before/2, "the server is fair: matching.enableFairness")
}

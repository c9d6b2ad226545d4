package worker_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"despacho/test/apptest"
	"despacho/worker"
	"despacho/workflows"
)

// What leaves the house can be run apart: without its workers orders move on, and webhooks are sent
// once they are there.
func TestOut_isServedApart(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{WorkerOnly: worker.PartOrders})
	receiver := apptest.NewReceiver(t, nil)
	s.Register(t, s.Key, receiver)
	id := s.CreateOrder(t, s.Key)
	s.receive(t, id)
	s.assign(t, id, 0)
	for _, event := range s.historyOf(t, workflowOf(id), "").Events {
		if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled != nil {
			require.Equal(t, workflows.OutQueue(s.Config.TaskQueue), scheduled.TaskQueue.Name)
		}
		require.NotEqual(t, enums.EVENT_TYPE_ACTIVITY_TASK_STARTED, event.EventType)
	}

	s.secondProcess(t, apptest.Options{WorkerOnly: worker.PartOut}).StartWorker(t)
	receiver.WaitFor(t, 2)
	answer := s.move(t, id, "deliver", nil)
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	receiver.WaitFor(t, 3)
}

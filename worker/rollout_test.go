package worker_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/poll"
	"despacho/workflows"
)

// A roll-out replaces release 1 with a release 2 that has other workflow code while orders are
// moved. No move is lost, and no worker gets a history that it cannot replay.
func TestRollout_noWorkflowTaskFails(t *testing.T) {
	t.Parallel()
	r := beginRollout(t, "1", "2")
	old := r.startWorker("1")
	begunBefore := []string{r.CreateOrder(t, r.Key), r.CreateOrder(t, r.Key), r.CreateOrder(t, r.Key)}
	r.waitForIdle(t, begunBefore[0]) // its first task is for release 1
	r.receive(t, begunBefore[1])
	r.receive(t, begunBefore[2])
	r.assign(t, begunBefore[2], 0)

	load := r.startLoad()
	latest := r.startWorker("2")
	load.awaitFinished(2)
	require.Empty(t, r.tasksOf("2"), "a version gets tasks once it is current")

	r.makeCurrent("2")
	load.awaitFinished(2)
	// The worker of release 2 is away for a moment while that of release 1 still runs.
	changed := r.beginChangedOrder()
	latest.stop()
	moved := r.receiveInBackground(changed)
	r.startWorker("2")
	answer := <-moved
	require.Equal(t, http.StatusOK, answer.Status, answer.Text)
	old.stop()
	load.awaitFinished(2)
	load.finish()
	for _, id := range begunBefore {
		r.finishOrder(id)
	}
	r.finishOrder(changed)

	require.Empty(t, r.failedTasks())
	for _, id := range begunBefore {
		require.Equal(t, []string{"1", "2"}, r.versionsOf(id), "the order has changed over in the middle of its life")
	}
	require.Equal(t, []string{"2"}, r.versionsOf(changed))
}

// The same without versions: the worker of release 1 gets a history of release 2 and fails its
// task. TestRollout_noWorkflowTaskFails would show this if versioning did nothing.
func TestRollout_withoutVersionsFailsTasks(t *testing.T) {
	t.Parallel()
	r := beginRollout(t)
	latest := r.startWorker("2")
	changed := r.beginChangedOrder()
	r.startWorker("1")
	latest.stop()
	require.NoError(t, r.Temporal.SignalWorkflow(t.Context(), workflowOf(changed), "", workflows.RefreshName, nil))
	poll.Until(t, func() error {
		if len(r.failedTasks()) == 0 {
			return errors.New("no workflow task has failed")
		}
		return nil
	})
}

// The first release with versions takes over from one without.
func TestRollout_fromWorkersWithoutVersions(t *testing.T) {
	t.Parallel()
	r := beginRollout(t, "2")
	old := r.startWorker("1")
	id := r.CreateOrder(t, r.Key)
	r.receive(t, id)
	load := r.startLoad()
	load.awaitFinished(1)
	r.startWorker("2") // the deployment has no current version: it makes its own current
	changed := r.beginChangedOrder()
	old.stop()
	load.awaitFinished(1)
	load.finish()
	r.finishOrder(id)
	r.finishOrder(changed)
	require.Empty(t, r.failedTasks())
	require.Equal(t, []string{"", "2"}, r.versionsOf(id))
	require.Equal(t, []string{"2"}, r.versionsOf(changed))
}

// A release whose worker dies takes nothing along: before it is current, the worker of the release
// before keeps all moves; after that, the roll-out takes it back, and the orders that it has moved
// go back with it.
func TestRollout_aNewWorkerThatDies(t *testing.T) {
	t.Parallel()
	r := beginRollout(t, "1", "1b")
	r.startWorker("1")
	id := r.CreateOrder(t, r.Key)
	r.waitForIdle(t, id) // its first task is for release 1
	load := r.startLoad()
	load.awaitFinished(1)
	r.startWorker("1b").kill()
	load.awaitFinished(2)
	load.finish()
	require.Empty(t, r.tasksOf("1b"))

	again := r.startWorker("1b")
	r.makeCurrent("1b")
	r.receive(t, id)
	again.kill()
	r.makeCurrent("1")
	r.assign(t, id, 0)
	r.finishOrder(id)
	require.Equal(t, []string{"1", "1b", "1"}, r.versionsOf(id))
	require.Empty(t, r.failedTasks())
}

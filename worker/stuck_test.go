package worker_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/workflows"
)

// A run whose workflow tasks fail again and again, here because no key decrypts a signal, is ended,
// and the order goes on from its row with another.
func TestReconcile_replacesAWorkflowThatCannotGoOn(t *testing.T) {
	t.Parallel()
	s := boot(t, "", apptest.Options{Configure: func(c *config.Config) {
		withHistoryKeys(keyA)(c)
		c.Timeouts.WorkflowTask = time.Second // a failed task is tried again when its time is over
	}})
	id, other := s.startedOrder(t, s.Key), s.startedOrder(t, s.Key)
	s.receive(t, id)
	stuck := s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Execution.RunId
	sound := s.describe(t, workflowOf(other)).WorkflowExecutionInfo.Execution.RunId
	stranger := s.secondProcess(t, apptest.Options{Configure: withHistoryKeys(keyB)})
	require.NoError(t, stranger.App.Temporal.SignalWorkflow(t.Context(), workflowOf(id), "", workflows.AssignedName, models.Message{}))
	require.ErrorContains(t, s.waitForFailedTask(t, id), `encrypted with the key "b"`)
	poll.Until(t, func() error {
		s.reconcile(t)
		if run := s.describe(t, workflowOf(id)).WorkflowExecutionInfo.Execution.RunId; run == stuck {
			return fmt.Errorf("run %s goes on", run)
		}
		return nil
	})
	ended, err := s.Temporal.DescribeWorkflowExecution(t.Context(), workflowOf(id), stuck)
	require.NoError(t, err)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, ended.WorkflowExecutionInfo.Status)
	require.EqualValues(t, 1, s.App.Orders.WorkflowsReplaced())
	s.assign(t, id, 0)
	s.deliver(t, id)
	require.Equal(t, []string{"created", "received", "assigned", "delivered"}, s.moveTypes(t, id))
	s.waitForOrderEnd(t, id)
	require.Equal(t, sound, s.describe(t, workflowOf(other)).WorkflowExecutionInfo.Execution.RunId)
	require.Equal(t, http.StatusOK, s.move(t, other, "cancel", nil).Status)
}

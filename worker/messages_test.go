package worker_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"despacho/models"
	"despacho/workflows"
)

// updateAs sends an update with the given id and returns its outcome.
func (s *service) updateAs(t *testing.T, updateID, orderID, name string, message any) error {
	handle, err := s.Temporal.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		UpdateID: updateID, WorkflowID: workflowOf(orderID), UpdateName: name, Args: []any{message},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(t.Context(), nil)
}

// The same update sent twice, concurrently or later, is applied once.
func TestMessages_duplicateUpdatesApplyOnce(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.startedOrder(t, s.Key)
		updateID := uuid.NewString()
		outcomes := make([]error, 5)
		var sending sync.WaitGroup
		for i := range outcomes {
			sending.Go(func() { outcomes[i] = s.updateAs(t, updateID, id, workflows.ReceivedName, models.Message{}) })
		}
		sending.Wait()
		outcomes = append(outcomes, s.updateAs(t, updateID, id, workflows.ReceivedName, models.Message{}))
		for _, err := range outcomes {
			require.NoError(t, err)
		}
		require.Equal(t, []string{"created", "received"}, s.moveTypes(t, id))
	})
}

// A refused update returns the order's status and leaves no event in its history.
func TestMessages_refusalsReachTheCaller(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id, before, after := s.refusedDelivery(t)
		for _, event := range after.Events[len(before.Events):] { // a worker that is slow to answer leaves workflow tasks, and nothing else
			require.Contains(t, []enums.EventType{
				enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enums.EVENT_TYPE_WORKFLOW_TASK_STARTED, enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
				enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, enums.EVENT_TYPE_WORKFLOW_TASK_FAILED,
			}, event.EventType)
		}

		s.receive(t, id)
		unknown := uuid.New()
		refusal, refused := workflows.AsRefusal(s.updateAs(t, uuid.NewString(), id, workflows.AssignedName, models.Message{RiderID: &unknown}))
		require.True(t, refused)
		require.Equal(t, models.StatusReceived, refusal.Status)
		require.Equal(t, "El motorizado no existe o no está activo.", refusal.Reason)
		require.Equal(t, "received", s.order(t, id).String("status"))
	})
}

// refusedDelivery sends an illegal delivered update and returns the history before and after.
func (s *service) refusedDelivery(t *testing.T) (orderID string, before, after *history.History) {
	t.Helper()
	orderID = s.CreateOrder(t, s.Key)
	s.waitForIdle(t, orderID)
	before = s.historyOf(t, workflowOf(orderID), "")
	refusal, refused := workflows.AsRefusal(s.updateAs(t, uuid.NewString(), orderID, workflows.DeliveredName, models.Message{}))
	require.True(t, refused)
	require.Equal(t, workflows.Refusal{Move: models.MoveDeliver, Status: models.StatusRegistered}, refusal)
	return orderID, before, s.historyOf(t, workflowOf(orderID), "")
}

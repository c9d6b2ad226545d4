package worker_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"despacho/internal/webhooks"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/workflows"
)

// The Temporal UI shows an order's summary and details.
func TestUI_orderSummary(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		receiver := apptest.NewReceiver(t, nil)
		s.Register(t, s.Key, receiver)
		id := s.CreateOrder(t, s.KeyA)
		guide := s.order(t, id).String("guide_code")
		s.waitForIdle(t, id)

		described := s.describe(t, workflowOf(id))
		require.Equal(t, "Guía "+guide+" · Tienda A", text(t, described.ExecutionConfig.UserMetadata.Summary))
		attributes := described.WorkflowExecutionInfo.SearchAttributes.IndexedFields
		require.Equal(t, guide, text(t, attributes[workflows.GuideCodeAttribute.GetName()]))
		require.Equal(t, s.Operator.ID.String(), text(t, attributes[workflows.OperatorAttribute.GetName()]))
		require.Equal(t, s.StoreA.ID.String(), text(t, attributes[workflows.StoreAttribute.GetName()]))
		require.Equal(t, "**Registrado** · guía "+guide, s.details(t, id))

		s.receive(t, id)
		require.Equal(t, "**Recibido** · guía "+guide, s.details(t, id))
		s.assign(t, id, 0)
		require.Equal(t, "**En reparto** · guía "+guide, s.details(t, id))
		s.waitForIdle(t, id) // an event whose predecessor is not delivered yet is sent by the queue
		s.deliver(t, id)
		_, runID := s.waitForOrderEnd(t, id)

		host := webhooks.HostOf(receiver.URL)
		require.Equal(t, []string{
			"auto-cancel", "order.created → " + host, "received", "assigned", "order.assigned → " + host, "delivered", "order.delivered → " + host,
		}, s.summaries(t, id, runID))
	})
}

// An order can be searched by its guide code.
func TestUI_anOrderIsFoundByItsGuideCode(t *testing.T) {
	each(t, func(t *testing.T, s *service) {
		id := s.CreateOrder(t, s.Key)
		s.CreateOrder(t, s.Key)
		guide := s.order(t, id).String("guide_code")
		poll.Until(t, func() error {
			found, err := s.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
				Query: fmt.Sprintf("%s = '%s'", workflows.GuideCodeAttribute.GetName(), guide),
			})
			if err != nil {
				return err
			}
			if len(found.Executions) != 1 || found.Executions[0].Execution.WorkflowId != workflowOf(id) {
				return fmt.Errorf("found %v", found.Executions)
			}
			return nil
		})
	})
}

// details returns the workflow's current details.
func (s *service) details(t *testing.T, orderID string) string {
	t.Helper()
	value, err := s.Temporal.QueryWorkflow(t.Context(), workflowOf(orderID), "", "__temporal_workflow_metadata")
	require.NoError(t, err)
	var metadata sdk.WorkflowMetadata
	require.NoError(t, value.Get(&metadata))
	return metadata.CurrentDetails
}

// summaries lists the summaries of a run's events.
func (s *service) summaries(t *testing.T, orderID, runID string) []string {
	t.Helper()
	var summaries []string
	for _, event := range s.historyOf(t, workflowOf(orderID), runID).Events {
		commands := []enums.EventType{enums.EVENT_TYPE_TIMER_STARTED, enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, enums.EVENT_TYPE_MARKER_RECORDED}
		if slices.Contains(commands, event.EventType) {
			summaries = append(summaries, text(t, event.GetUserMetadata().GetSummary()))
		}
	}
	return summaries
}

func text(t *testing.T, payload *common.Payload) string {
	t.Helper()
	var value string
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(payload, &value))
	return value
}

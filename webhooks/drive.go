package webhooks

import (
	"context"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"despacho/db"
	"despacho/workflows"
)

// Drive makes a workflow send an abandoned delivery. If its order's workflow is running, that one
// reloads the order and sends what it is not sending yet; otherwise the delivery gets a workflow of
// its own. So one workflow sends it. byOrder means that the order's workflow was told, which does
// for every delivery of that order.
func (s *Service) Drive(ctx context.Context, target db.DeliveryTarget) (byOrder bool, err error) {
	if target.OrderID != nil {
		running, err := workflows.SignalRefresh(ctx, s.Temporal, *target.OrderID)
		if running || err != nil {
			return running, err
		}
	}
	ref := Ref(target)
	_, err = s.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.DeliveryWorkflowID(ref.ID), TaskQueue: s.TaskQueue,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            ref.Summary(), Priority: workflows.OperatorPriority(target.OperatorID),
	}, workflows.DeliveryWorkflowName, ref)
	return false, err
}

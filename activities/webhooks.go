package activities

import (
	"context"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"despacho/models"
	"despacho/orders"
	"despacho/webhooks"
	"despacho/workflows"
)

// SendWebhook makes the next attempt at a delivery.
func (a *Activities) SendWebhook(ctx context.Context, deliveryID uuid.UUID) error {
	return a.Webhooks.Send(ctx, deliveryID, models.CauseAuto)
}

// ResendWebhook makes an attempt that a person requested.
func (a *Activities) ResendWebhook(ctx context.Context, deliveryID uuid.UUID) error {
	return a.Webhooks.Send(ctx, deliveryID, models.CauseRedelivery)
}

// DriveAbandonedDeliveries starts a workflow for each abandoned delivery. If another workflow is
// still sending it, the attempt's row prevents a double send.
func (a *Activities) DriveAbandonedDeliveries(ctx context.Context) (driven int, err error) {
	targets, err := a.DB.AbandonedDeliveries(ctx, a.Clock.Now().Add(-orders.OverdueAfter), reconcileBatch)
	if err != nil {
		return 0, err
	}
	for _, target := range targets {
		_, startErr := a.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: workflows.DeliveryWorkflowID(target.ID), TaskQueue: a.TaskQueue,
			WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, workflows.DeliveryWorkflowName, webhooks.Ref(target))
		if startErr != nil {
			err = startErr
			continue
		}
		driven++
	}
	return driven, err
}

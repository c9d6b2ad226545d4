package activities

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"despacho/models"
	"despacho/webhooks"
)

// SendWebhook makes the next attempt at a delivery.
func (a *Activities) SendWebhook(ctx context.Context, deliveryID uuid.UUID) error {
	return a.sendWebhook(ctx, deliveryID, models.CauseAuto)
}

// ResendWebhook makes an attempt that a person requested.
func (a *Activities) ResendWebhook(ctx context.Context, deliveryID uuid.UUID) error {
	return a.sendWebhook(ctx, deliveryID, models.CauseRedelivery)
}

// sendWebhook sends a delivery. One that has to wait for its turn does so without an activity slot:
// the activity is completed later.
func (a *Activities) sendWebhook(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) error {
	info := activity.GetInfo(ctx)
	err := a.Webhooks.Send(ctx, deliveryID, cause, func(outcome error) { a.completeWebhook(ctx, info, deliveryID, outcome) })
	if errors.Is(err, webhooks.ErrWaiting) {
		return activity.ErrResultPending
	}
	return err
}

// completionTimeout is how long telling Temporal of a completion may take.
const completionTimeout = 10 * time.Second

// completeWebhook completes an activity that waited. If Temporal does not learn of it, the activity
// times out and runs again.
func (a *Activities) completeWebhook(ctx context.Context, info activity.Info, deliveryID uuid.UUID, outcome error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completionTimeout)
	defer cancel()
	// With the workflow's id an encrypted failure names its workflow.
	err := a.Temporal.CompleteActivityWithOptions(ctx, client.CompleteActivityOptions{
		TaskToken: info.TaskToken, Err: outcome, WorkflowID: info.WorkflowExecution.ID,
	})
	if err != nil {
		a.Log.WarnContext(ctx, "the outcome of a delivery is not known to Temporal; it will be asked for again", "delivery_id", deliveryID, "error", err)
	}
}

package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Delivery sends a delivery that no order's workflow is sending, because it was abandoned. Releases
// that did not queue these started it; those that were started go on.
func Delivery(ctx workflow.Context, delivery WebhookDeliveryRef) error {
	return send(ctx, delivery).Get(ctx, nil)
}

// Redelivery resends deliveries on request, in sequence. The outcome of each is in its row: a
// receiver that refuses one does not fail the workflow, which has done what it was asked for. It
// returns the error of the last one if it could not be sent.
func Redelivery(ctx workflow.Context, deliveries []WebhookDeliveryRef) (failed error) {
	for _, delivery := range deliveries {
		failed = workflow.ExecuteActivity(webhookActivityOptions(ctx, delivery), ResendWebhookActivity, delivery.ID).Get(ctx, nil)
	}
	var refused *temporal.ApplicationError
	if errors.As(failed, &refused) && refused.Type() == webhookFailedErrorType && hasChange(ctx, changeRedeliveryOutcome) {
		return nil
	}
	return failed
}

// send starts the activity that calls one webhook.
func send(ctx workflow.Context, delivery WebhookDeliveryRef) workflow.Future {
	return workflow.ExecuteActivity(webhookActivityOptions(ctx, delivery), SendWebhookActivity, delivery.ID)
}

// webhookTimeout is longer than the exchange and storing the outcome can take together.
const webhookTimeout = 30 * time.Second

// webhookActivityOptions returns the options of a webhook call. The activity itself sets the retry
// delay, which depends on the webhook and the response; the policy here is for internal errors such
// as a database outage.
func webhookActivityOptions(ctx workflow.Context, delivery WebhookDeliveryRef) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           outQueue(ctx),
		StartToCloseTimeout: webhookTimeout,
		Summary:             delivery.Summary(),
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
	})
}

// SendOutcome is the result of a send without an error, for readers of the history.
type SendOutcome string

// The outcomes: delivered, queued in the database until its webhook can take it, or settled before.
const (
	SendDelivered SendOutcome = "delivered"
	SendQueued    SendOutcome = "queued"
	SendSettled   SendOutcome = "settled before"
)

// WebhookFailed is the non-retryable error of a failed delivery.
func WebhookFailed(reason string) error {
	return webhookError(reason, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// RetryWebhook is the error that makes Temporal retry after a delay.
func RetryWebhook(reason string, after time.Duration) error {
	return webhookError(reason, temporal.ApplicationErrorOptions{NextRetryDelay: after})
}

// webhookError marks the error as benign, so that the SDK neither logs it as an error nor counts it
// as a failed activity: whoever runs the service cannot repair a receiver.
func webhookError(reason string, options temporal.ApplicationErrorOptions) error {
	options.Category = temporal.ApplicationErrorCategoryBenign
	return temporal.NewApplicationErrorWithOptions(reason, webhookFailedErrorType, options)
}

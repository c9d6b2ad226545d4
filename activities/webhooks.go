package activities

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"despacho/db"
	"despacho/internal/webhook"
	"despacho/models"
	"despacho/orders"
	"despacho/workflows"
)

// attemptAbandoned is how long after its start an attempt without an outcome is taken to have died with its process; an exchange
// itself takes 5 seconds at the most.
const attemptAbandoned = 30 * time.Second

// SendWebhook makes one attempt at a delivery. Temporal may run it again for any reason; the attempt's row, written before the
// request goes out, is what keeps an event from being sent twice to a webhook that did not ask for retries.
func (a *Activities) SendWebhook(ctx context.Context, deliveryID uuid.UUID) error {
	target, err := a.sendable(ctx, deliveryID)
	if err != nil || target == nil {
		return err
	}
	attempt := &models.DeliveryAttempt{DeliveryID: deliveryID, Cause: causeAuto}
	var begun bool
	var refused error
	result := a.Sender.Send(ctx, webhook.Request{
		URL: target.webhook.URL, Event: string(target.delivery.Event), ID: deliveryID.String(),
		TenantID: target.delivery.OperatorID.String(), Data: json.RawMessage(target.delivery.Data), Secrets: target.secrets,
		Begin: func(at time.Time) error {
			begun = true
			refused = a.begin(ctx, attempt, at)
			return refused
		},
	})
	if !begun {
		if ctx.Err() != nil {
			return ctx.Err() // its turn never came; tried again
		}
		refused = a.begin(ctx, attempt, result.At) // refused before a connection was tried: an attempt all the same
	}
	if refused != nil {
		return refused
	}
	// The receiver has been called: what it said is written even if this worker is told to stop meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptAbandoned/2)
	defer cancel()
	return a.finish(ctx, target, attempt, result)
}

const (
	causeAuto     = "auto"
	textAbandoned = "El envío se interrumpió y no se sabe si llegó."
	textGone      = "El receptor respondió 410: ya no quiere recibir eventos."
)

// sendTarget is a delivery that may be sent now.
type sendTarget struct {
	delivery *models.Delivery
	webhook  *models.Webhook
	secrets  []string
}

// sendable reads what is to be sent; nil when there is nothing left to send.
func (a *Activities) sendable(ctx context.Context, deliveryID uuid.UUID) (*sendTarget, error) {
	delivery, _, err := a.DB.Delivery(ctx, deliveryID)
	if err != nil {
		return nil, err
	}
	if delivery.Status != models.DeliveryPending {
		return nil, nil
	}
	hook, err := a.DB.Webhook(ctx, delivery.WebhookID)
	if err != nil {
		return nil, err
	}
	if !hook.Active {
		return nil, a.give(ctx, delivery, "El webhook está desactivado.")
	}
	secrets, err := a.secretsOf(hook)
	if err != nil {
		return nil, err
	}
	return &sendTarget{delivery: delivery, webhook: hook, secrets: secrets}, nil
}

func (a *Activities) secretsOf(hook *models.Webhook) ([]string, error) {
	current, err := a.Secrets.Open(hook.Secret, hook.ID[:])
	if err != nil {
		return nil, err
	}
	secrets := []string{string(current)}
	if hook.PreviousSecret != nil && hook.PreviousSecretUntil != nil && a.Clock.Now().Before(*hook.PreviousSecretUntil) {
		previous, err := a.Secrets.Open(hook.PreviousSecret, hook.ID[:])
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, string(previous))
	}
	return secrets, nil
}

// begin writes the attempt when its turn has come. It returns an error when the request must not go out: somebody else is sending it, or somebody died
// sending it and it may not be repeated.
func (a *Activities) begin(ctx context.Context, attempt *models.DeliveryAttempt, at time.Time) error {
	attempt.StartedAt = at
	var stop error
	err := a.DB.InTx(ctx, func(tx *db.DB) error {
		delivery, attempts, err := tx.LockDelivery(ctx, attempt.DeliveryID)
		if err != nil {
			return err
		}
		if delivery.Status != models.DeliveryPending {
			stop = workflows.DeliveryFailed("already settled")
			return nil
		}
		attempt.Number = len(attempts) + 1
		if len(attempts) > 0 {
			if stop, err = a.resolveLast(ctx, tx, delivery, &attempts[len(attempts)-1], at); err != nil || stop != nil {
				return err
			}
		}
		return tx.StartAttempt(ctx, attempt)
	})
	if err != nil {
		return err
	}
	return stop
}

// resolveLast deals with an attempt that never got an outcome.
func (a *Activities) resolveLast(ctx context.Context, tx *db.DB, delivery *models.Delivery, last *models.DeliveryAttempt, now time.Time) (stop, err error) {
	if last.FinishedAt != nil {
		return nil, nil
	}
	if now.Sub(last.StartedAt) < attemptAbandoned {
		return workflows.DeliverAgain("another worker is sending it", attemptAbandoned), nil
	}
	text := textAbandoned
	last.FinishedAt, last.Error = &now, &text
	if err := tx.FinishAttempt(ctx, last); err != nil {
		return nil, err
	}
	hook, err := tx.Webhook(ctx, delivery.WebhookID)
	if err != nil || hook.Retry {
		return nil, err
	}
	settle(delivery, models.DeliveryFailed, now)
	return workflows.DeliveryFailed(textAbandoned), tx.SaveDelivery(ctx, delivery)
}

// finish writes what came of an attempt and says whether there will be another.
func (a *Activities) finish(ctx context.Context, target *sendTarget, attempt *models.DeliveryAttempt, result webhook.Result) error {
	now := a.Clock.Now()
	record(attempt, result, now)
	delivery := target.delivery
	var after error
	switch {
	case result.Delivered():
		settle(delivery, models.DeliveryDelivered, now)
	case result.Gone():
		settle(delivery, models.DeliveryFailed, now)
		after = workflows.DeliveryFailed(textGone)
	default:
		after = a.again(target, attempt, result, now)
	}
	err := a.DB.InTx(ctx, func(tx *db.DB) error {
		if err := tx.FinishAttempt(ctx, attempt); err != nil {
			return err
		}
		return tx.SaveDelivery(ctx, delivery)
	})
	if err != nil {
		return err
	}
	if result.Gone() {
		scope := db.WebhookScope{OperatorID: delivery.OperatorID}
		if err := a.DB.DeactivateWebhook(ctx, scope, delivery.WebhookID, textGone, now); err != nil && !db.IsNotFound(err) {
			return err
		}
	}
	return after
}

// again plans the next attempt of a webhook that asked for retries, or gives the delivery up.
func (a *Activities) again(target *sendTarget, attempt *models.DeliveryAttempt, result webhook.Result, now time.Time) error {
	if target.webhook.Retry {
		if wait, more := webhook.NextDelay(attempt.Number, result.RetryAfter, rand.Float64); more {
			next := now.Add(wait)
			target.delivery.NextAttemptAt = &next
			return workflows.DeliverAgain(*attempt.Error, wait)
		}
	}
	settle(target.delivery, models.DeliveryFailed, now)
	return workflows.DeliveryFailed(*attempt.Error)
}

func record(attempt *models.DeliveryAttempt, result webhook.Result, now time.Time) {
	milliseconds := result.Duration.Milliseconds()
	attempt.FinishedAt, attempt.DurationMS = &now, &milliseconds
	if result.StatusCode != 0 {
		attempt.StatusCode = &result.StatusCode
	}
	if result.Response != "" {
		attempt.Response = &result.Response
	}
	if !result.Delivered() {
		attempt.Error = &result.Words
	}
}

func settle(delivery *models.Delivery, status models.DeliveryStatus, now time.Time) {
	delivery.Status, delivery.FinishedAt, delivery.NextAttemptAt = status, &now, nil
}

// give gives a delivery up without an attempt.
func (a *Activities) give(ctx context.Context, delivery *models.Delivery, reason string) error {
	settle(delivery, models.DeliveryFailed, a.Clock.Now())
	if err := a.DB.SaveDelivery(ctx, delivery); err != nil {
		return err
	}
	return workflows.DeliveryFailed(reason)
}

// DriveAbandonedDeliveries hands deliveries whose next attempt is overdue to workflows of their own. If somebody drives them after all,
// the attempt's row keeps the two apart.
func (a *Activities) DriveAbandonedDeliveries(ctx context.Context) (driven int, err error) {
	targets, err := a.DB.AbandonedDeliveries(ctx, a.Clock.Now().Add(-orders.Overdue), reconcileBatch)
	if err != nil {
		return 0, err
	}
	for _, target := range targets {
		_, startErr := a.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: workflows.DeliveryWorkflowID(target.ID), TaskQueue: a.TaskQueue,
			WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		}, workflows.DeliveryWorkflowName, orders.DeliveryRef(target))
		var running *serviceerror.WorkflowExecutionAlreadyStarted
		if startErr != nil && !errors.As(startErr, &running) {
			err = startErr
			continue
		}
		driven++
	}
	return driven, err
}

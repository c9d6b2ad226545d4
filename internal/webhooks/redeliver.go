package webhooks

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/workflows"
)

const (
	// maxRange is the largest number of failed deliveries that one request may resend.
	maxRange = 500
	// maxQueued is the largest number of deliveries that one request may queue again.
	maxQueued = 5000
)

// Record is a delivery with its attempts.
type Record struct {
	Delivery models.WebhookDelivery
	// Webhook is nil if the webhook is the operator's and the caller a store: then there are no
	// attempts either, because they tell about the receiver.
	Webhook  *models.Webhook
	Attempts []models.WebhookAttempt
}

// Test sends a webhook.test event and returns the receiver's response.
func (s *Service) Test(ctx context.Context, scope db.WebhookScope, id uuid.UUID) (*Record, error) {
	hook, err := s.findToSend(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	deliveryID, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{"id": deliveryID, "webhook_id": hook.ID, "message": "Evento de prueba."})
	if err != nil {
		return nil, err
	}
	now := s.Clock.Now()
	// Only this request sends it. It starts as failed, so that it is sent at most once and never
	// reconciled.
	delivery := models.WebhookDelivery{
		ID: deliveryID, WebhookID: hook.ID, OperatorID: hook.OperatorID, Test: hook.Test, Event: models.EventTest, Data: string(data),
		Status: models.WebhookDeliveryFailed, CreatedAt: now, FinishedAt: &now,
	}
	if err := s.DB.InsertDeliveries(ctx, []models.WebhookDelivery{delivery}); err != nil {
		return nil, err
	}
	return s.sendNow(ctx, hook, deliveryID, models.EventTest)
}

// findToSend reads an active webhook that the caller may see and that may be called.
func (s *Service) findToSend(ctx context.Context, scope db.WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	hook, err := s.findActive(ctx, scope, id)
	if err == nil && s.Paused {
		err = ErrPaused
	}
	return hook, err
}

// findToRedeliver is findToSend for what a paused webhook does not get.
func (s *Service) findToRedeliver(ctx context.Context, scope db.WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	hook, err := s.findToSend(ctx, scope, id)
	if err == nil && hook.PausedAt != nil {
		err = ErrHookPaused
	}
	return hook, err
}

// Redeliver resends one delivery under the same webhook-id and returns the receiver's response.
func (s *Service) Redeliver(ctx context.Context, scope db.WebhookScope, id uuid.UUID) (*Record, error) {
	delivery, err := s.DB.DeliveryIn(ctx, scope, id)
	if db.IsNotFound(err) {
		return nil, ErrDeliveryNotFound
	}
	if err != nil {
		return nil, err
	}
	hook, err := s.findToRedeliver(ctx, scope, delivery.WebhookID)
	if err != nil {
		return nil, err
	}
	return s.sendNow(ctx, hook, id, delivery.Event)
}

// sendNow makes the worker send a delivery and waits for the outcome.
func (s *Service) sendNow(ctx context.Context, hook *models.Webhook, deliveryID uuid.UUID, event models.Event) (*Record, error) {
	ref := Ref(db.DeliveryTarget{ID: deliveryID, WebhookID: hook.ID, Event: event, URL: hook.URL})
	limited, cancel := context.WithTimeout(ctx, s.OutcomeTimeout)
	defer cancel()
	run, err := s.Temporal.ExecuteWorkflow(limited, client.StartWorkflowOptions{
		ID: workflows.RedeliveryWorkflowID(ref.ID), TaskQueue: s.TaskQueue,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            ref.Summary(),
		Priority:                 workflows.OperatorPriority(hook.OperatorID),
	}, workflows.RedeliveryWorkflowName, []workflows.WebhookDeliveryRef{ref})
	if err == nil {
		err = run.Get(limited, nil)
	}
	var failed *temporal.WorkflowExecutionError
	if err != nil && !errors.As(err, &failed) {
		return nil, ErrNoOutcome.Because(err)
	}
	delivery, attempts, err := s.DB.Delivery(ctx, deliveryID)
	if err != nil {
		return nil, err
	}
	return &Record{Delivery: *delivery, Webhook: hook, Attempts: attempts}, nil
}

// RedeliverRange resends every failed delivery of a webhook in a time range and returns their
// number. If the request says "all", it resends the delivered ones as well: they are queued again,
// as if they were new.
func (s *Service) RedeliverRange(ctx context.Context, scope db.WebhookScope, webhookID uuid.UUID, in *jsonbody.Object) (int, error) {
	all := in.Bool("all")
	if all != nil && *all {
		return s.requeue(ctx, scope, webhookID, in)
	}
	from, to, err := readRange(in)
	if err != nil {
		return 0, err
	}
	hook, err := s.findToRedeliver(ctx, scope, webhookID)
	if err != nil {
		return 0, err
	}
	deliveries, err := s.DB.FailedDeliveries(ctx, hook.ID, from, to, maxRange+1)
	if err != nil {
		return 0, err
	}
	if len(deliveries) > maxRange {
		return 0, apperror.New(apperror.Unprocessable, "range_too_large", "Hay más de 500 entregas fallidas en ese rango: elija uno más corto.")
	}
	refs := []workflows.WebhookDeliveryRef{}
	for _, target := range deliveries {
		if target.Event != models.EventTest {
			refs = append(refs, Ref(target))
		}
	}
	if len(refs) == 0 {
		return 0, nil
	}
	if err := s.startRedelivery(ctx, hook, refs); err != nil {
		return 0, err
	}
	return len(refs), nil
}

// startRedelivery makes the worker send deliveries of a webhook again.
func (s *Service) startRedelivery(ctx context.Context, hook *models.Webhook, refs []workflows.WebhookDeliveryRef) error {
	ctx, cancel := context.WithTimeout(ctx, s.OutcomeTimeout)
	defer cancel()
	_, err := s.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.RedeliveryWorkflowID(hook.ID), TaskQueue: s.TaskQueue,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL, WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary: workflows.Summary("redelivery → " + workflows.HostOf(hook.URL)), Priority: workflows.OperatorPriority(hook.OperatorID),
	}, workflows.RedeliveryWorkflowName, refs)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return apperror.New(apperror.Conflict, "redelivery_running", "Ya hay un reenvío en curso para este webhook.")
	}
	if err != nil {
		return ErrNoOutcome.Because(err)
	}
	return nil
}

// requeue queues all finished deliveries of a webhook since a time again.
func (s *Service) requeue(ctx context.Context, scope db.WebhookScope, webhookID uuid.UUID, in *jsonbody.Object) (int, error) {
	now := s.Clock.Now()
	from, to, err := readRangeUntil(in, now)
	if err != nil {
		return 0, err
	}
	hook, err := s.findToRedeliver(ctx, scope, webhookID)
	if err != nil {
		return 0, err
	}
	var queued int64
	err = s.DB.InTx(ctx, func(tx *db.DB) error {
		count, err := tx.CountFinished(ctx, hook.ID, from, to)
		if err != nil {
			return err
		}
		if count > maxQueued {
			return apperror.New(apperror.Unprocessable, "range_too_large", "Hay más de 5000 entregas en ese rango: elija uno más corto.")
		}
		queued, err = tx.RequeueDeliveries(ctx, hook.ID, from, to, now)
		return err
	})
	return int(queued), err
}

// Ref returns the workflow reference of a delivery.
func Ref(target db.DeliveryTarget) workflows.WebhookDeliveryRef {
	return workflows.WebhookDeliveryRef{
		ID: target.ID, WebhookID: target.WebhookID, Event: target.Event, Host: workflows.HostOf(target.URL), Retry: target.Retry,
	}
}

package webhooks

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

const (
	// maxRange is the largest number of failed deliveries that one request may resend.
	maxRange = 500
	// maxQueued is the largest number of deliveries that one request may queue again.
	maxQueued = 5000
	// maxAttempts is how many attempts a delivery may have and still be sent again: whoever lists
	// deliveries reads all of them.
	maxAttempts = 50
	// hasFewAttempts is the condition on a delivery to be sent again.
	hasFewAttempts = "(SELECT COUNT(*) FROM delivery_attempts WHERE delivery_id = deliveries.id) < ?"
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
	// It starts as failed, so that it is sent only once: on request.
	delivery := models.WebhookDelivery{
		ID: deliveryID, WebhookID: hook.ID, OperatorID: hook.OperatorID, Test: hook.Test, Event: models.EventTest,
		Data:   string(data),
		Status: models.WebhookDeliveryFailed, CreatedAt: now, FinishedAt: &now, RequestedAt: &now,
	}
	err = s.DB.InTx(ctx, func(tx *db.DB) error {
		sent, err := countRequested(ctx, tx, hook.ID, "event = ?", models.EventTest)
		if err != nil {
			return err
		}
		if sent > 0 {
			return ErrTestRunning
		}
		return tx.InsertDeliveries(ctx, []models.WebhookDelivery{delivery})
	})
	if err != nil {
		return nil, err
	}
	return s.awaitRequested(ctx, hook, deliveryID)
}

// countRequested counts those calls of a webhook that somebody has requested and that are not sent
// yet. Until the transaction ends no other request adds one: every pass over the queue reads them
// all, so that their number is bounded for each webhook.
func countRequested(ctx context.Context, tx *db.DB, hookID uuid.UUID, condition string, value any) (count int64, err error) {
	if _, err := lockHook(ctx, tx, hookID); err != nil {
		return 0, err
	}
	err = tx.Query(ctx).Model(&models.WebhookDelivery{}).Where("webhook_id = ? AND requested_at IS NOT NULL", hookID).
		Where(condition, value).Count(&count).Error
	return count, err
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
	delivery, err := findCall(ctx, s.DB, scope, id)
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
	err = s.DB.InTx(ctx, func(tx *db.DB) error {
		// An attempt locks its delivery before the webhook.
		_, attempts, err := lockWithAttempts(ctx, tx, id)
		if err != nil {
			return err
		}
		if len(attempts) >= maxAttempts {
			return ErrTooManyAttempts
		}
		others, err := countRequested(ctx, tx, hook.ID, "id <> ?", id)
		if err != nil {
			return err
		}
		if others >= maxRange {
			return errRedeliveryRunning
		}
		return tx.Query(ctx).Model(&models.WebhookDelivery{}).Where("id = ?", id).UpdateColumn("requested_at", s.Clock.Now()).Error
	})
	if err != nil {
		return nil, err
	}
	return s.awaitRequested(ctx, hook, id)
}

// outcomeInterval is the time between two looks for the outcome of a requested attempt.
const outcomeInterval = 100 * time.Millisecond

// awaitRequested waits for the outcome of a requested attempt.
func (s *Service) awaitRequested(ctx context.Context, hook *models.Webhook, id uuid.UUID) (*Record, error) {
	limited, cancel := context.WithTimeout(ctx, s.OutcomeTimeout)
	defer cancel()
	for {
		call, err := readCall(ctx, s.DB, id)
		if err != nil {
			return nil, err
		}
		if call.RequestedAt == nil {
			attempts, err := attemptsOf(ctx, s.DB, []models.WebhookDelivery{*call})
			return &Record{Delivery: *call, Webhook: hook, Attempts: attempts[id]}, err
		}
		select {
		case <-limited.Done():
			return nil, ErrNoOutcome.Because(limited.Err())
		case <-time.After(outcomeInterval):
		}
	}
}

// RedeliverRange resends every failed delivery of a webhook in a time range and returns their
// number, without those that have maxAttempts. If the request says "all", it resends the delivered
// ones as well: they are queued again, as if they were new.
func (s *Service) RedeliverRange(
	ctx context.Context, scope db.WebhookScope, webhookID uuid.UUID, in *jsonbody.Object,
) (int, error) {
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
	var count int64
	err = s.DB.InTx(ctx, func(tx *db.DB) error {
		running, err := countRequested(ctx, tx, hook.ID, "event <> ?", models.EventTest)
		if err != nil {
			return err
		}
		if running > 0 {
			return errRedeliveryRunning
		}
		failed := func() *gorm.DB {
			return tx.Query(ctx).Model(&models.WebhookDelivery{}).Where("webhook_id = ? AND event <> ?", hook.ID, models.EventTest).
				Where("status = ? AND created_at >= ? AND created_at <= ?", models.WebhookDeliveryFailed, from, to).
				Where(hasFewAttempts, maxAttempts)
		}
		if err := failed().Count(&count).Error; err != nil {
			return err
		}
		if count > maxRange {
			return apperror.New(apperror.Unprocessable, "range_too_large",
				"Hay más de 500 entregas fallidas en ese rango: elija uno más corto.")
		}
		return failed().UpdateColumn("requested_at", s.Clock.Now()).Error
	})
	return int(count), err
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
		finished := func() *gorm.DB {
			return tx.Query(ctx).Model(&models.WebhookDelivery{}).
				Where("webhook_id = ? AND NOT ("+isPending+") AND event <> ? AND created_at >= ? AND created_at <= ?", hook.ID,
					models.EventTest, from, to).Where(hasFewAttempts, maxAttempts)
		}
		var count int64
		if err := finished().Count(&count).Error; err != nil {
			return err
		}
		if count > maxQueued {
			return apperror.New(apperror.Unprocessable, "range_too_large",
				"Hay más de 5000 entregas en ese rango: elija uno más corto.")
		}
		// They have all their retries again.
		result := finished().UpdateColumns(map[string]any{
			"status": models.WebhookDeliveryPending, "queued": true, "next_attempt_at": now, "finished_at": nil,
			"attempts_before": gorm.Expr("(SELECT COUNT(*) FROM delivery_attempts WHERE delivery_id = deliveries.id)"),
		})
		queued = result.RowsAffected
		return result.Error
	})
	return int(queued), err
}

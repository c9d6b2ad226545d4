package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/models"
	"despacho/webhooks/sender"
	"despacho/workflows"
)

// attemptAbandoned is how long after its start an attempt without an outcome is taken to have died
// with its process; an exchange itself takes 5 seconds at the most.
const abandonedAfter = 30 * time.Second

const (
	textAbandoned = "El envío se interrumpió y no se sabe si llegó."
	textInactive  = "El webhook está desactivado."
)

// begin writes the attempt when its turn has come. It returns an error when the request must not go
// out: somebody else is sending it, or somebody died sending it and it may not be repeated.
func (s *Service) begin(ctx context.Context, t *target, at time.Time) error {
	t.attempt.StartedAt = at
	var stop error
	err := s.DB.InTx(ctx, func(tx *db.DB) error {
		delivery, attempts, err := tx.LockDelivery(ctx, t.delivery.ID)
		if err != nil {
			return err
		}
		t.delivery = delivery
		if t.scheduled() && delivery.Status != models.WebhookDeliveryPending {
			stop = workflows.WebhookFailed("already settled")
			return nil
		}
		t.attempt.Number = len(attempts) + 1
		t.scheduleIndex = 1 + countScheduled(attempts)
		if stop, err = handleAbandoned(ctx, tx, t, attempts, at); err != nil || stop != nil {
			return err
		}
		return tx.StartAttempt(ctx, &t.attempt)
	})
	if err != nil {
		return err
	}
	return stop
}

func countScheduled(attempts []models.WebhookAttempt) (count int) {
	for _, attempt := range attempts {
		if attempt.Cause == models.CauseAuto {
			count++
		}
	}
	return count
}

// resolve deals with an attempt that never got an outcome. It may be this very attempt's own
// earlier try, which must not be repeated unless the webhook asked for retries; if somebody else
// died at it, that keeps nobody from trying now.
func handleAbandoned(ctx context.Context, tx *db.DB, t *target, attempts []models.WebhookAttempt, now time.Time) (stop, err error) {
	abandoned, stop, err := checkAbandoned(ctx, tx, attempts, now)
	if abandoned == nil || stop != nil || err != nil {
		return stop, err
	}
	onlyOne := abandoned.Cause == models.CauseAuto && !t.hook.Retry
	if onlyOne && t.delivery.Status == models.WebhookDeliveryPending {
		finalize(t.delivery, models.WebhookDeliveryFailed, now)
		if err := tx.SaveDelivery(ctx, t.delivery); err != nil {
			return nil, err
		}
	}
	if abandoned.Cause == t.attempt.Cause && (onlyOne || !t.scheduled()) {
		return workflows.WebhookFailed(textAbandoned), nil
	}
	return nil, nil
}

// abandonedAmong looks whether the latest attempt has no outcome. One that is still young may be
// under way: its time must pass first. An old one is written down as abandoned.
func checkAbandoned(ctx context.Context, tx *db.DB, attempts []models.WebhookAttempt, now time.Time) (abandoned *models.WebhookAttempt, wait, err error) {
	if len(attempts) == 0 || attempts[len(attempts)-1].FinishedAt != nil {
		return nil, nil, nil
	}
	last := &attempts[len(attempts)-1]
	if age := now.Sub(last.StartedAt); age < abandonedAfter {
		return nil, workflows.RetryWebhook("another attempt is under way", abandonedAfter-age), nil
	}
	text := textAbandoned
	last.FinishedAt, last.Error = &now, &text
	return last, nil, tx.FinishAttempt(ctx, last)
}

// failInactive ends a delivery whose webhook is no more, and leaves word of it in the log.
func (s *Service) failInactive(ctx context.Context, deliveryID uuid.UUID) error {
	verdict := workflows.WebhookFailed(textInactive)
	err := s.DB.InTx(ctx, func(tx *db.DB) error {
		delivery, attempts, err := tx.LockDelivery(ctx, deliveryID)
		if err != nil || delivery.Status != models.WebhookDeliveryPending {
			return err
		}
		now, text := s.Clock.Now(), textInactive
		if _, wait, err := checkAbandoned(ctx, tx, attempts, now); wait != nil || err != nil {
			verdict = wait
			return err
		}
		finalize(delivery, models.WebhookDeliveryFailed, now)
		if err := tx.SaveDelivery(ctx, delivery); err != nil {
			return err
		}
		return tx.StartAttempt(ctx, &models.WebhookAttempt{
			DeliveryID: deliveryID, Number: len(attempts) + 1, Cause: models.CauseAuto, StartedAt: now, FinishedAt: &now, Error: &text,
		})
	})
	if err != nil {
		return err
	}
	return verdict
}

// reschedule says when a pending delivery is tried next.
func (s *Service) reschedule(ctx context.Context, deliveryID uuid.UUID, next time.Time) error {
	return s.DB.InTx(ctx, func(tx *db.DB) error {
		delivery, _, err := tx.LockDelivery(ctx, deliveryID)
		if err != nil || delivery.Status != models.WebhookDeliveryPending {
			return err
		}
		delivery.NextAttemptAt = &next
		return tx.SaveDelivery(ctx, delivery)
	})
}

func recordResult(attempt *models.WebhookAttempt, result sender.Result, now time.Time) {
	milliseconds := result.Duration.Milliseconds()
	attempt.FinishedAt, attempt.DurationMS = &now, &milliseconds
	if result.StatusCode != 0 {
		attempt.StatusCode = &result.StatusCode
	}
	if result.Response != "" {
		attempt.Response = &result.Response
	}
	if !result.Delivered() {
		attempt.Error = &result.Message
	}
}

func finalize(delivery *models.WebhookDelivery, status models.WebhookDeliveryStatus, now time.Time) {
	delivery.Status, delivery.FinishedAt, delivery.NextAttemptAt = status, &now, nil
}

package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/webhooks/sender"
	"despacho/models"
	"despacho/workflows"
)

// abandonedAfter is the age from which an attempt without an outcome counts as lost in a crash; an
// exchange takes at most 5 seconds.
const abandonedAfter = 30 * time.Second

// unsignedFor is how long after its event a scheduled delivery is tried again that no key can sign:
// whoever runs the service may have given the worker another SECRET_KEY by mistake. Then it fails,
// where its owner sees it and can send it again with a new secret. Without an end, every such
// delivery would keep its order's workflow running.
const unsignedFor = 24 * time.Hour

const (
	textAbandoned = "El envío se interrumpió y no se sabe si llegó."
	textInactive  = "El webhook está desactivado."
	textUnsigned  = "El secreto del webhook no se puede descifrar y el envío no se puede firmar. Renueve el secreto."
)

// beginAttempt writes the attempt before the request is sent. It returns an error if the request
// must not be sent: another process is sending it, or an earlier attempt was lost and may not be
// repeated.
func (s *Service) beginAttempt(ctx context.Context, t *target, at time.Time) error {
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
		if stop = t.requireDue(at); stop != nil {
			return nil
		}
		t.attempt.Number = len(attempts) + 1
		t.scheduleIndex = 1 + countScheduled(delivery, attempts)
		if stop, err = handleAbandoned(ctx, tx, t, attempts, at); err != nil || stop != nil {
			return err
		}
		if stop, err = claimProbe(ctx, tx, t, at); err != nil || stop != nil {
			return err
		}
		return tx.Insert(ctx, &t.attempt)
	})
	if err != nil {
		return err
	}
	return stop
}

// countScheduled counts the attempts of the retry schedule, which begins anew for a delivery that
// is queued again.
func countScheduled(delivery *models.WebhookDelivery, attempts []models.WebhookAttempt) (count int) {
	for _, attempt := range attempts {
		if attempt.Cause == models.CauseAuto && attempt.Number > delivery.AttemptsBefore {
			count++
		}
	}
	return count
}

// handleAbandoned handles a previous attempt without an outcome. If it was this attempt's own
// earlier run, it is repeated only if the webhook has retries; if it had another cause, it does not
// prevent this attempt.
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

// checkAbandoned checks whether the latest attempt has no outcome. A recent one may still be
// running: the caller must wait. An old one is marked as abandoned.
func checkAbandoned(ctx context.Context, tx *db.DB, attempts []models.WebhookAttempt, now time.Time) (abandoned *models.WebhookAttempt, wait, err error) {
	if len(attempts) == 0 || attempts[len(attempts)-1].FinishedAt != nil {
		return nil, nil, nil
	}
	last := &attempts[len(attempts)-1]
	// One that began in the future, by more than clocks differ, began before a clock was set back.
	if age := now.Sub(last.StartedAt); age < abandonedAfter && age > -abandonedAfter {
		return nil, workflows.RetryWebhook("another attempt is under way", abandonedAfter-age), nil
	}
	text := textAbandoned
	last.FinishedAt, last.Error = &now, &text
	return last, nil, tx.FinishAttempt(ctx, last)
}

// failUnsent fails a delivery that is not sent any more and records why in the delivery log.
func (s *Service) failUnsent(ctx context.Context, deliveryID uuid.UUID, text string) error {
	verdict := workflows.WebhookFailed(text)
	err := s.DB.InTx(ctx, func(tx *db.DB) error {
		delivery, attempts, err := tx.LockDelivery(ctx, deliveryID)
		if err != nil || delivery.Status != models.WebhookDeliveryPending {
			return err
		}
		now := s.Clock.Now()
		if _, wait, err := checkAbandoned(ctx, tx, attempts, now); wait != nil || err != nil {
			verdict = wait
			return err
		}
		finalize(delivery, models.WebhookDeliveryFailed, now)
		if err := tx.SaveDelivery(ctx, delivery); err != nil {
			return err
		}
		return tx.Insert(ctx, &models.WebhookAttempt{
			DeliveryID: deliveryID, Number: len(attempts) + 1, Cause: models.CauseAuto, StartedAt: now, FinishedAt: &now, Error: &text,
		})
	})
	if err != nil {
		return err
	}
	return verdict
}

// failUnsigned records a redelivery that cannot be signed. It is not tried again until a key is
// found: somebody waits for its outcome, and the redelivery of a range keeps others from beginning.
func (s *Service) failUnsigned(ctx context.Context, t *target) error {
	verdict := workflows.WebhookFailed(textUnsigned)
	err := s.DB.InTx(ctx, func(tx *db.DB) error {
		_, attempts, err := tx.LockDelivery(ctx, t.delivery.ID)
		if err != nil {
			return err
		}
		now, text := s.Clock.Now(), textUnsigned
		if _, wait, err := checkAbandoned(ctx, tx, attempts, now); wait != nil || err != nil {
			verdict = wait
			return err
		}
		t.attempt.Number, t.attempt.StartedAt, t.attempt.FinishedAt, t.attempt.Error = len(attempts)+1, now, &now, &text
		return tx.Insert(ctx, &t.attempt)
	})
	if err != nil {
		return err
	}
	return verdict
}

// setNextAttempt sets the next attempt time of a pending delivery.
func (s *Service) setNextAttempt(ctx context.Context, deliveryID uuid.UUID, next time.Time) error {
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
	delivery.Status, delivery.FinishedAt, delivery.NextAttemptAt, delivery.Queued = status, &now, nil, false
}

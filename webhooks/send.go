package webhooks

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/webhook"
	"despacho/models"
	"despacho/workflows"
)

// attemptAbandoned is how long after its start an attempt without an outcome is taken to have died with its process; an exchange
// itself takes 5 seconds at the most.
const attemptAbandoned = 30 * time.Second

const (
	textAbandoned = "El envío se interrumpió y no se sabe si llegó."
	textInactive  = "El webhook está desactivado."
	textGone      = "El receptor respondió 410: ya no quiere recibir eventos."
	textFailing   = "Todos los envíos fallaron durante cinco días."
)

// Send makes one attempt at a delivery. Temporal may run it again for any reason; the attempt's row, written before the request goes
// out, is what keeps an event from being sent twice to a webhook that did not ask for retries.
func (s *Service) Send(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) error {
	target, err := s.target(ctx, deliveryID, cause)
	if err != nil || target == nil {
		return err
	}
	var begun bool
	var refused error
	result := s.Sender.Send(ctx, webhook.Request{
		URL: target.hook.URL, Event: string(target.delivery.Event), ID: deliveryID.String(),
		TenantID: target.delivery.OperatorID.String(), Data: json.RawMessage(target.delivery.Data), Secrets: target.secrets,
		Begin: func(at time.Time) error {
			begun = true
			refused = s.begin(ctx, target, at)
			return refused
		},
	})
	if !begun {
		if ctx.Err() != nil {
			return ctx.Err() // its turn never came; tried again
		}
		refused = s.begin(ctx, target, result.At) // refused before a connection was tried: an attempt all the same
	}
	if refused != nil {
		return refused
	}
	// The receiver has been called: what it said is written even if this worker is told to stop meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptAbandoned/2)
	defer cancel()
	return s.finish(ctx, target, result)
}

// target is a delivery that may be sent now, and the attempt at it.
type target struct {
	delivery *models.Delivery
	hook     *models.Webhook
	secrets  []string
	attempt  models.DeliveryAttempt
}

// scheduled reports whether the attempt is one of the schedule's own, not a person's wish.
func (t *target) scheduled() bool { return t.attempt.Cause == models.CauseAuto }

// target reads what is to be sent; nil when there is nothing left to send.
func (s *Service) target(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) (*target, error) {
	delivery, _, err := s.DB.Delivery(ctx, deliveryID)
	if err != nil {
		return nil, err
	}
	t := &target{delivery: delivery, attempt: models.DeliveryAttempt{DeliveryID: deliveryID, Cause: cause}}
	if t.scheduled() && delivery.Status != models.DeliveryPending {
		return nil, nil
	}
	if t.hook, err = s.DB.Webhook(ctx, delivery.WebhookID); err != nil {
		return nil, err
	}
	if !t.hook.Active {
		if delivery.Status == models.DeliveryPending {
			settle(delivery, models.DeliveryFailed, s.Clock.Now())
			if err := s.DB.SaveDelivery(ctx, delivery); err != nil {
				return nil, err
			}
		}
		return nil, workflows.DeliveryFailed(textInactive)
	}
	t.secrets, err = s.secretsOf(t.hook)
	return t, err
}

// begin writes the attempt when its turn has come. It returns an error when the request must not go out: somebody else is sending it, or
// somebody died sending it and it may not be repeated.
func (s *Service) begin(ctx context.Context, t *target, at time.Time) error {
	t.attempt.StartedAt = at
	var stop error
	err := s.DB.InTx(ctx, func(tx *db.DB) error {
		delivery, attempts, err := tx.LockDelivery(ctx, t.delivery.ID)
		if err != nil {
			return err
		}
		t.delivery = delivery
		if t.scheduled() && delivery.Status != models.DeliveryPending {
			stop = workflows.DeliveryFailed("already settled")
			return nil
		}
		t.attempt.Number = len(attempts) + 1
		if len(attempts) > 0 {
			if stop, err = s.resolve(ctx, tx, t, &attempts[len(attempts)-1], at); err != nil || stop != nil {
				return err
			}
		}
		return tx.StartAttempt(ctx, &t.attempt)
	})
	if err != nil {
		return err
	}
	return stop
}

// resolve deals with an attempt that never got an outcome.
func (s *Service) resolve(ctx context.Context, tx *db.DB, t *target, last *models.DeliveryAttempt, now time.Time) (stop, err error) {
	if last.FinishedAt != nil {
		return nil, nil
	}
	if now.Sub(last.StartedAt) < attemptAbandoned {
		return workflows.DeliverAgain("another attempt is under way", attemptAbandoned), nil
	}
	text := textAbandoned
	last.FinishedAt, last.Error = &now, &text
	if err := tx.FinishAttempt(ctx, last); err != nil {
		return nil, err
	}
	if t.hook.Retry && t.scheduled() {
		return nil, nil
	}
	if t.delivery.Status == models.DeliveryPending {
		settle(t.delivery, models.DeliveryFailed, now)
		err = tx.SaveDelivery(ctx, t.delivery)
	}
	return workflows.DeliveryFailed(textAbandoned), err
}

// finish writes what came of an attempt and says whether there will be another.
func (s *Service) finish(ctx context.Context, t *target, result webhook.Result) error {
	now := s.Clock.Now()
	record(&t.attempt, result, now)
	after := s.judge(t, result, now)
	err := s.DB.InTx(ctx, func(tx *db.DB) error {
		if err := tx.FinishAttempt(ctx, &t.attempt); err != nil {
			return err
		}
		return tx.SaveDelivery(ctx, t.delivery)
	})
	if err != nil {
		return err
	}
	if err := s.watchHealth(ctx, t.hook, result, now); err != nil {
		return err
	}
	return after
}

// judge decides what an attempt means for its delivery: done, tried again, or given up.
func (s *Service) judge(t *target, result webhook.Result, now time.Time) error {
	if result.Delivered() {
		settle(t.delivery, models.DeliveryDelivered, now)
		return nil
	}
	if !t.scheduled() {
		// A wish that failed takes nothing back: what was delivered or failed before stays so, and the schedule goes on.
		return workflows.DeliveryFailed(result.Words)
	}
	if t.hook.Retry && !result.Gone() {
		if wait, more := webhook.NextDelay(t.attempt.Number, result.RetryAfter, rand.Float64); more {
			next := now.Add(wait)
			t.delivery.NextAttemptAt = &next
			return workflows.DeliverAgain(result.Words, wait)
		}
	}
	settle(t.delivery, models.DeliveryFailed, now)
	return workflows.DeliveryFailed(result.Words)
}

// watchHealth gives a webhook up whose receiver said that it is gone, or that has failed for days without a single success.
func (s *Service) watchHealth(ctx context.Context, hook *models.Webhook, result webhook.Result, now time.Time) error {
	switch {
	case result.Delivered() && hook.FailingSince != nil:
		return s.DB.SetFailingSince(ctx, hook.ID, nil)
	case result.Delivered():
		return nil
	case result.Gone():
		return s.giveUp(ctx, hook, textGone, now)
	case hook.FailingSince == nil:
		return s.DB.SetFailingSince(ctx, hook.ID, &now)
	case now.Sub(*hook.FailingSince) >= failingTooLong:
		return s.giveUp(ctx, hook, textFailing, now)
	}
	return nil
}

func (s *Service) giveUp(ctx context.Context, hook *models.Webhook, reason string, now time.Time) error {
	err := s.DB.DeactivateWebhook(ctx, db.WebhookScope{OperatorID: hook.OperatorID}, hook.ID, reason, now)
	if db.IsNotFound(err) {
		return nil // somebody was quicker
	}
	return err
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

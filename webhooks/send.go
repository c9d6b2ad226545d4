package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/models"
	"despacho/webhooks/sender"
	"despacho/workflows"
)

// A host that hangs must not hold up the deliveries to the others: who does not get its turn there
// makes room in the worker and comes back later.
const (
	// queueTimeout is how long a delivery waits for its turn at a host that is busy with others.
	queueTimeout = 2 * time.Second
	// It stays away for as long as it has been waiting altogether, within these bounds.
	minDeferral, maxDeferral = 5 * time.Second, 2 * time.Minute
)

var errHostBusy = errors.New("the receiver's host is busy with other deliveries")

// Send makes one attempt at a delivery. Temporal may run it again for any reason; the attempt's
// row, written before the request goes out, is what keeps an event from being sent twice to a
// webhook that did not ask for retries.
func (s *Service) Send(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) error {
	target, err := s.target(ctx, deliveryID, cause)
	if err != nil || target == nil {
		return err
	}
	var begun bool
	var refused error
	untilItsTurn, leave := context.WithCancel(ctx)
	defer leave()
	patience := time.AfterFunc(queueTimeout, leave)
	result := s.Sender.Send(untilItsTurn, sender.Request{
		URL: target.hook.URL, Event: string(target.delivery.Event), ID: deliveryID.String(),
		TenantID: target.delivery.OperatorID.String(), Data: json.RawMessage(target.delivery.Data), Secrets: target.secrets,
		Begin: func(at time.Time) error {
			if !patience.Stop() {
				return errHostBusy
			}
			begun = true
			refused = s.begin(ctx, target, at)
			return refused
		},
	})
	switch {
	case begun:
	case ctx.Err() != nil:
		return ctx.Err()
	case untilItsTurn.Err() != nil:
		return s.deferBusyHost(ctx, target)
	default:
		refused = s.begin(ctx, target, result.At) // refused before a connection was tried: an attempt all the same
	}
	if refused != nil {
		return refused
	}
	// The receiver has been called: what it said is written even if this worker is told to stop
	// meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonedAfter/2)
	defer cancel()
	return s.finish(ctx, target, result)
}

// target is a delivery that may be sent now, and the attempt at it.
type target struct {
	delivery *models.WebhookDelivery
	hook     *models.Webhook
	secrets  []string
	attempt  models.WebhookAttempt
	// turn is which attempt of the schedule this is; a person's wishes do not count.
	scheduleIndex int
}

// scheduled reports whether the attempt is one of the schedule's own, not a person's wish.
func (t *target) scheduled() bool { return t.attempt.Cause == models.CauseAuto }

// target reads what is to be sent; nil when there is nothing left to send.
func (s *Service) target(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) (*target, error) {
	delivery, _, err := s.DB.Delivery(ctx, deliveryID)
	if err != nil {
		return nil, err
	}
	t := &target{delivery: delivery, attempt: models.WebhookAttempt{DeliveryID: deliveryID, Cause: cause}}
	if t.scheduled() && delivery.Status != models.WebhookDeliveryPending {
		return nil, nil
	}
	if t.hook, err = s.DB.Webhook(ctx, delivery.WebhookID); err != nil {
		return nil, err
	}
	if !t.hook.Active {
		return nil, s.failInactive(ctx, deliveryID)
	}
	t.secrets, err = s.secretsOf(t.hook)
	return t, err
}

// deferBusyHost puts an attempt off whose turn did not come. It says so in the delivery's row too,
// or it would be taken for abandoned.
func (s *Service) deferBusyHost(ctx context.Context, t *target) error {
	now := s.Clock.Now()
	away := min(max(now.Sub(t.delivery.CreatedAt), minDeferral), maxDeferral)
	away = time.Duration(float64(away) * (0.8 + 0.4*rand.Float64())) // not all of them at once
	if t.scheduled() {
		if err := s.reschedule(ctx, t.delivery.ID, now.Add(away)); err != nil {
			return err
		}
	}
	return workflows.RetryWebhook(errHostBusy.Error(), away)
}

// finish writes what came of an attempt and says whether there will be another.
func (s *Service) finish(ctx context.Context, t *target, result sender.Result) error {
	now := s.Clock.Now()
	recordResult(&t.attempt, result, now)
	after := s.applyResult(t, result, now)
	err := s.DB.InTx(ctx, func(tx *db.DB) error {
		if err := tx.FinishAttempt(ctx, &t.attempt); err != nil {
			return err
		}
		if t.scheduled() || result.Delivered() {
			if err := tx.SaveDelivery(ctx, t.delivery); err != nil {
				return err
			}
		}
		return updateHealth(ctx, tx, t.hook, result, now)
	})
	if err != nil {
		return err
	}
	return after
}

// judge decides what an attempt means for its delivery: done, tried again, or given up.
func (s *Service) applyResult(t *target, result sender.Result, now time.Time) error {
	if result.Delivered() {
		finalize(t.delivery, models.WebhookDeliveryDelivered, now)
		return nil
	}
	if !t.scheduled() {
		// A wish that failed takes nothing back: what was delivered or failed before stays so, and
		// the schedule goes on.
		return workflows.WebhookFailed(result.Message)
	}
	if t.hook.Retry && !result.Gone() {
		if wait, more := sender.NextDelay(t.scheduleIndex, result.RetryAfter, rand.Float64); more {
			next := now.Add(wait)
			t.delivery.NextAttemptAt = &next
			return workflows.RetryWebhook(result.Message, wait)
		}
	}
	finalize(t.delivery, models.WebhookDeliveryFailed, now)
	return workflows.WebhookFailed(result.Message)
}

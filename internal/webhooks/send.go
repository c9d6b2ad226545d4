package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/webhooks/sender"
	"despacho/models"
	"despacho/workflows"
)

// Send makes one attempt at a delivery, or queues it if it cannot be sent at once. Temporal may run
// it more than once; the attempt's row, written before the request is sent, prevents sending an
// event twice to a webhook without retries.
func (s *Service) Send(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) (workflows.SendOutcome, error) {
	t, err := s.target(ctx, deliveryID, cause)
	if err != nil || t == nil {
		return workflows.SendSettled, err
	}
	if s.isPaused(t) && !t.scheduled() {
		return "", workflows.RetryWebhook("webhooks are paused", pauseRetryDelay)
	}
	if queue, err := s.mustQueue(ctx, t); err != nil {
		return "", err
	} else if queue {
		return workflows.SendQueued, s.DB.Enqueue(ctx, deliveryID)
	}
	done := s.Slots.take(t.claim())
	switch {
	case done != nil:
		defer done()
		return workflows.SendDelivered, s.attempt(ctx, t)
	case t.scheduled():
		return workflows.SendQueued, s.DB.Enqueue(ctx, deliveryID)
	}
	return "", workflows.RetryWebhook("too many are being sent", slotRetryDelay)
}

// slotRetryDelay is the time until the next try to get a slot for a redelivery, which is not
// queued: somebody waits for its outcome.
const slotRetryDelay = time.Second

// mustQueue reports whether a delivery cannot be sent by a workflow: webhooks are paused, it is
// queued, the circuit of its webhook is open, or others of its webhook come before it.
func (s *Service) mustQueue(ctx context.Context, t *target) (bool, error) {
	if !t.scheduled() {
		return false, nil
	}
	if s.isPaused(t) || t.delivery.Queued || t.hook.CircuitOpenedAt != nil {
		return true, nil
	}
	now := s.Clock.Now()
	behind, siblings, err := s.DB.QueueAround(ctx, t.delivery, now.Add(workflows.PreviousTimeout), waitedForUntil(now))
	if siblings {
		s.Slots.wakeQueue() // they are as new as this one
	}
	return behind, err
}

// attempt sends a delivery whose slot it is.
func (s *Service) attempt(ctx context.Context, t *target) error {
	at := s.Clock.Now()
	if err := s.beginAttempt(ctx, t, at); err != nil {
		return err
	}
	result := s.Sender.Send(ctx, sender.Request{
		URL: t.hook.URL, Event: string(t.delivery.Event), ID: t.delivery.ID.String(),
		TenantID: t.delivery.OperatorID.String(), Test: t.delivery.Test, Data: json.RawMessage(s.PhotoURLs.SignEvent(t.delivery.Data, at)), Secrets: t.secrets,
	}, at)
	// The request was sent, so the outcome is written even if the worker is stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonedAfter/2)
	defer cancel()
	return s.finishAttempt(ctx, t, result)
}

// target is a delivery to be sent and the attempt at it.
type target struct {
	delivery *models.WebhookDelivery
	hook     *models.Webhook
	secrets  []string
	attempt  models.WebhookAttempt
	// scheduleIndex is the number of this attempt in the retry schedule; redeliveries do not count.
	scheduleIndex int
}

// scheduled reports whether the attempt belongs to the retry schedule and is not a redelivery.
func (t *target) scheduled() bool { return t.attempt.Cause == models.CauseAuto }

// claim is what the delivery needs a slot for.
func (t *target) claim() claim {
	return claim{
		operator: t.hook.OperatorID, webhook: t.hook.ID, delivery: t.delivery.ID,
		failing: t.hook.CircuitOpenedAt != nil, requested: !t.scheduled(),
	}
}

// target reads the delivery; nil if there is nothing left to send.
func (s *Service) target(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) (*target, error) {
	delivery, err := s.DB.DeliveryWithoutAttempts(ctx, deliveryID)
	if db.IsNotFound(err) {
		return nil, workflows.WebhookFailed("the delivery does not exist")
	}
	if err != nil {
		return nil, err
	}
	t := &target{delivery: delivery, attempt: models.WebhookAttempt{DeliveryID: deliveryID, Cause: cause}}
	if t.scheduled() && delivery.Status != models.WebhookDeliveryPending {
		return nil, nil
	}
	if err := t.requireDue(s.Clock.Now()); err != nil {
		return nil, err
	}
	t.hook, err = s.DB.Webhook(ctx, delivery.WebhookID)
	if db.IsNotFound(err) || (err == nil && !t.hook.Active) {
		return nil, s.failUnsent(ctx, deliveryID, textInactive)
	}
	if err != nil {
		return nil, err
	}
	t.secrets, err = s.secretsOf(t.hook)
	if errors.Is(err, encryption.ErrOpen) {
		switch {
		case !t.scheduled():
			return nil, s.failUnsigned(ctx, t)
		case s.Clock.Now().Sub(delivery.CreatedAt) >= unsignedFor:
			return nil, s.failUnsent(ctx, deliveryID, textUnsigned)
		}
	}
	return t, err
}

// dueTolerance is how much earlier than planned an attempt may be made: Temporal's clock decides
// when it runs.
const dueTolerance = time.Second

// LongestWait is the longest time between two attempts.
const LongestWait = sender.MaxRetryAfter

// requireDue returns nil if a scheduled attempt is due, and otherwise the error that makes Temporal
// wait. More than one workflow may send a delivery; all of them keep its schedule. A new delivery
// is always due: its time was set by another process's clock. So is one whose time is further away
// than LongestWait: a clock was ahead when it was set.
func (t *target) requireDue(now time.Time) error {
	next := t.delivery.NextAttemptAt
	if !t.scheduled() || next == nil || next.Equal(t.delivery.CreatedAt) {
		return nil
	}
	if wait := next.Sub(now); wait > dueTolerance && wait <= LongestWait {
		return workflows.RetryWebhook("the next attempt is not due yet", wait)
	}
	return nil
}

// finishAttempt writes the outcome of an attempt and returns the error that tells Temporal whether
// to retry.
func (s *Service) finishAttempt(ctx context.Context, t *target, result sender.Result) error {
	now := s.Clock.Now()
	recordResult(&t.attempt, result, now)
	wasPending := t.delivery.Status == models.WebhookDeliveryPending
	var outcome error
	var switched bool
	store := func(tx *db.DB) (err error) {
		outcome, switched, err = storeResult(ctx, tx, t, result, now)
		return err
	}
	var err error
	if mayDeactivate(t.hook, result, now) {
		err = s.DB.ChangeSettings(ctx, t.hook.OperatorID, store) // the owner's changes lock the operator first, too
	} else {
		err = s.DB.InTx(ctx, store)
	}
	if err == nil && switched {
		err = s.DB.BumpSettings(ctx, t.hook.OperatorID)
	}
	if err != nil {
		return err
	}
	if wasPending && !t.scheduled() && result.Delivered() {
		s.signalOrder(ctx, t.delivery)
	}
	return outcome
}

// storeResult writes the attempt, the delivery and the health of the webhook. outcome is the error
// for Temporal; switched means that the webhook's circuit was opened or closed.
func storeResult(ctx context.Context, tx *db.DB, t *target, result sender.Result, now time.Time) (outcome error, switched bool, err error) {
	if err := storeAttempt(ctx, tx, t); err != nil {
		return nil, false, err
	}
	// A success of a webhook that does not fail changes nothing, whichever receiver it is of.
	changesHealth := !result.Delivered() || t.hook.FailingSince != nil
	var replaced bool
	if changesHealth {
		if replaced, err = isReplaced(ctx, tx, t.hook); err != nil {
			return nil, false, err
		}
	}
	gone, retryAfter, failures := result.Gone(), result.RetryAfter, t.scheduleIndex
	if replaced {
		gone, retryAfter, failures = false, 0, 1 // the receiver that it has now was not asked yet
	}
	outcome = applyResult(t, result, gone, retryAfter, failures, now)
	if t.scheduled() || result.Delivered() {
		if err := tx.SaveDelivery(ctx, t.delivery); err != nil {
			return nil, false, err
		}
	}
	if changesHealth && !replaced {
		switched, err = updateHealth(ctx, tx, t.hook, result, now)
	}
	return outcome, switched, err
}

// storeAttempt writes the outcome of the attempt.
func storeAttempt(ctx context.Context, tx *db.DB, t *target) error {
	// The delivery is locked before its attempts, as beginAttempt and the erasure do.
	stored, err := tx.LockDeliveryWithoutAttempts(ctx, t.delivery.ID)
	if err != nil {
		return err
	}
	// A receiver may repeat what was erased, from the event that it was sent or from its own data.
	if stored.ErasedAt != nil || stored.Data != t.delivery.Data {
		t.attempt.Response = nil
	}
	return tx.FinishAttempt(ctx, &t.attempt)
}

// signalOrder signals an order's workflow to read its deliveries, so that it does not wait for the
// next retry of one that a redelivery has settled. If the signal is lost, the workflow finds the
// delivery settled when the retry is due, and does not send it again.
func (s *Service) signalOrder(ctx context.Context, delivery *models.WebhookDelivery) {
	if delivery.OrderID != nil {
		_, _ = workflows.SignalRefresh(ctx, s.Temporal, *delivery.OrderID)
	}
}

// applyResult sets the delivery's status from the result and returns the error for Temporal. gone
// and retryAfter are what the webhook's receiver asks for, failures the attempts that decide how
// long the next one waits.
func applyResult(t *target, result sender.Result, gone bool, retryAfter time.Duration, failures int, now time.Time) error {
	if result.Delivered() {
		finalize(t.delivery, models.WebhookDeliveryDelivered, now)
		return nil
	}
	if !t.scheduled() {
		// A failed redelivery changes neither the delivery's status nor its schedule.
		return workflows.WebhookFailed(result.Message)
	}
	if t.hook.Retry && !gone {
		if wait, more := sender.NextDelay(failures, retryAfter, rand.Float64); more {
			next := clock.Normalize(now.Add(wait))
			t.delivery.NextAttemptAt = &next
			return workflows.RetryWebhook(result.Message, wait)
		}
	}
	finalize(t.delivery, models.WebhookDeliveryFailed, now)
	return workflows.WebhookFailed(result.Message)
}

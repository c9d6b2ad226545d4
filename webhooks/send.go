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

// A hanging host must not block deliveries to other hosts: a delivery that gets no slot for its
// host in time frees its activity slot and is retried later.
const (
	// queueTimeout is how long a delivery waits for a slot of a busy host.
	queueTimeout = 2 * time.Second
	// The deferral is the age of the delivery, within these bounds.
	minDeferral, maxDeferral = 5 * time.Second, 2 * time.Minute
)

var errHostBusy = errors.New("the receiver's host is busy with other deliveries")

// Send makes one attempt at a delivery. Temporal may run it more than once; the attempt's row,
// written before the request is sent, prevents sending an event twice to a webhook without retries.
func (s *Service) Send(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) error {
	target, err := s.target(ctx, deliveryID, cause)
	if err != nil || target == nil {
		return err
	}
	slot, err := s.reserve(ctx, target)
	if err != nil {
		return err
	}
	defer slot.Release()
	if err := s.beginAttempt(ctx, target, slot.At); err != nil {
		return err
	}
	result := slot.Send(ctx)
	// The request was sent, so the outcome is written even if the worker is stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonedAfter/2)
	defer cancel()
	return s.finishAttempt(ctx, target, result)
}

// reserve waits for a slot of the receiver's host. After queueTimeout the delivery is rescheduled.
func (s *Service) reserve(ctx context.Context, t *target) (*sender.Slot, error) {
	queueCtx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	slot, err := s.Sender.Reserve(queueCtx, sender.Request{
		URL: t.hook.URL, Event: string(t.delivery.Event), ID: t.delivery.ID.String(),
		TenantID: t.delivery.OperatorID.String(), Data: json.RawMessage(t.delivery.Data), Secrets: t.secrets,
	})
	switch {
	case err == nil:
		return slot, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, s.deferBusyHost(ctx, t)
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

// target reads the delivery; nil if there is nothing left to send.
func (s *Service) target(ctx context.Context, deliveryID uuid.UUID, cause models.AttemptCause) (*target, error) {
	delivery, _, err := s.DB.Delivery(ctx, deliveryID)
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
	if err := t.dueIn(s.Clock.Now()); err != nil {
		return nil, err
	}
	t.hook, err = s.DB.Webhook(ctx, delivery.WebhookID)
	if db.IsNotFound(err) || (err == nil && !t.hook.Active) {
		return nil, s.failInactive(ctx, deliveryID)
	}
	if err != nil {
		return nil, err
	}
	t.secrets, err = s.secretsOf(t.hook)
	return t, err
}

// dueTolerance is how much earlier than planned an attempt may be made: Temporal's clock decides
// when it runs.
const dueTolerance = time.Second

// LongestWait is the longest time between two attempts.
const LongestWait = sender.MaxRetryAfter

// dueIn returns nil if a scheduled attempt is due, and otherwise the error that makes Temporal wait.
// More than one workflow may send a delivery; all of them keep its schedule. A new delivery is due
// whatever its time says, which is that of another process's clock, and so is one whose time is
// further away than LongestWait: a clock was ahead when it was set.
func (t *target) dueIn(now time.Time) error {
	next := t.delivery.NextAttemptAt
	if !t.scheduled() || next == nil || next.Equal(t.delivery.CreatedAt) {
		return nil
	}
	if wait := next.Sub(now); wait > dueTolerance && wait <= LongestWait {
		return workflows.RetryWebhook("the next attempt is not due yet", wait)
	}
	return nil
}

// deferBusyHost reschedules an attempt that got no slot of its host. It updates the delivery's row
// too, otherwise the delivery would count as abandoned.
func (s *Service) deferBusyHost(ctx context.Context, t *target) error {
	now := s.Clock.Now()
	delay := min(max(now.Sub(t.delivery.CreatedAt), minDeferral), maxDeferral)
	delay = time.Duration(float64(delay) * (0.8 + 0.4*rand.Float64())) // jitter
	if t.scheduled() {
		if err := s.reschedule(ctx, t.delivery.ID, now.Add(delay)); err != nil {
			return err
		}
	}
	return workflows.RetryWebhook(errHostBusy.Error(), delay)
}

// finishAttempt writes the outcome of an attempt and returns the error that tells Temporal whether
// to retry.
func (s *Service) finishAttempt(ctx context.Context, t *target, result sender.Result) error {
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

// applyResult sets the delivery's status from the result and returns the error for Temporal.
func (s *Service) applyResult(t *target, result sender.Result, now time.Time) error {
	if result.Delivered() {
		finalize(t.delivery, models.WebhookDeliveryDelivered, now)
		return nil
	}
	if !t.scheduled() {
		// A failed redelivery changes neither the delivery's status nor its schedule.
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

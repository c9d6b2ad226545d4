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
)

// CallFirst makes the first attempt at a webhook call, for the workflow of its order. Whatever
// cannot be sent at once, and every later attempt, is left to the queue. The row of the attempt,
// written before the request is sent, prevents sending an event twice to a webhook without retries.
func (s *Service) CallFirst(ctx context.Context, id uuid.UUID) (Outcome, error) {
	outcome, err := s.callFirst(ctx, id)
	if err != nil {
		return "", errors.Join(err, s.postpone(ctx, id, models.CauseAuto))
	}
	if outcome == OutcomeQueued {
		err = s.DB.Query(ctx).Model(&models.WebhookDelivery{}).Where("id = ? AND "+isPending, id).UpdateColumn("queued",
			true).Error
	}
	return outcome, err
}

func (s *Service) callFirst(ctx context.Context, id uuid.UUID) (Outcome, error) {
	t, outcome, err := s.target(ctx, id, models.CauseAuto)
	if err != nil || outcome != "" {
		return outcome, err
	}
	if t.call.Queued || s.isPaused(t) || t.hook.CircuitOpenedAt != nil {
		return OutcomeQueued, nil
	}
	done := s.Slots.take(t.claim())
	if done == nil {
		return OutcomeQueued, nil
	}
	defer done()
	return s.attempt(ctx, t)
}

// attempt makes the attempt at a call that has a slot.
func (s *Service) attempt(ctx context.Context, t *target) (Outcome, error) {
	at := s.Clock.Now()
	if stop, err := s.beginAttempt(ctx, t, at); err != nil || stop != "" {
		return stop, err
	}
	result := s.Sender.Send(ctx, sender.Request{
		URL: t.hook.URL, Event: string(t.call.Event), ID: t.call.ID.String(),
		TenantID: t.call.OperatorID.String(), Test: t.call.Test, Data: json.RawMessage(s.PhotoURLs.SignEvent(t.call.Data, at)),
		Secrets: t.secrets,
	}, at)
	// The request was sent, so the outcome is written even if the worker is stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonedAfter/2)
	defer cancel()
	return s.finishAttempt(ctx, t, result)
}

// target is a call to be made and the attempt at it.
type target struct {
	call    *models.WebhookDelivery
	hook    *models.Webhook
	secrets []string
	attempt models.WebhookAttempt
	// scheduleIndex is the number of this attempt in the retry schedule; those that somebody requested
	// do not count.
	scheduleIndex int
}

// scheduled reports whether the attempt belongs to the retry schedule and was not requested.
func (t *target) scheduled() bool { return t.attempt.Cause == models.CauseAuto }

// claim is what the call needs a slot for.
func (t *target) claim() claim {
	return claim{
		operator: t.hook.OperatorID, webhook: t.hook.ID, call: t.call.ID,
		failing: t.hook.CircuitOpenedAt != nil, requested: !t.scheduled(),
	}
}

// target reads a call. With an outcome there is nothing left to send.
func (s *Service) target(ctx context.Context, id uuid.UUID, cause models.AttemptCause) (t *target, outcome Outcome, err error) {
	t = &target{attempt: models.WebhookAttempt{DeliveryID: id, Cause: cause}}
	t.call, err = readCall(ctx, s.DB, id)
	if db.IsNotFound(err) {
		return nil, outcomeFailed + "the call does not exist", nil
	}
	if err != nil {
		return nil, "", err
	}
	if stop := t.mustStop(s.Clock.Now()); stop != "" {
		return nil, stop, nil
	}
	t.hook, err = readHook(ctx, s.DB, t.call.WebhookID)
	if db.IsNotFound(err) || (err == nil && !t.hook.Active) {
		outcome, err = s.failUnsent(ctx, t, textInactive, false)
		return nil, outcome, err
	}
	if err != nil {
		return nil, "", err
	}
	t.secrets, err = s.secretsOf(t.hook)
	// What was requested is not tried again until a key is found: somebody waits for its outcome.
	if isOld := s.Clock.Now().Sub(t.call.CreatedAt) >= unsignedFor; errors.Is(err, encryption.ErrOpen) &&
		(isOld || !t.scheduled()) {
		outcome, err = s.failUnsent(ctx, t, textUnsigned, !t.scheduled())
	}
	return t, outcome, err
}

// finishAttempt writes the outcome of an attempt.
func (s *Service) finishAttempt(ctx context.Context, t *target, result sender.Result) (outcome Outcome, err error) {
	now := s.Clock.Now()
	recordResult(&t.attempt, result, now)
	var switched bool
	store := func(tx *db.DB) (err error) {
		outcome, switched, err = storeResult(ctx, tx, t, result, now)
		return err
	}
	if mayDeactivate(t.hook, result, now) {
		err = s.DB.ChangeSettings(ctx, t.hook.OperatorID, store) // the owner's changes lock the operator first, too
	} else {
		err = s.DB.InTx(ctx, store)
	}
	if err == nil && switched {
		// Every process reads the settings again: creations go by the circuit.
		err = s.DB.ChangeSettings(ctx, t.hook.OperatorID, func(*db.DB) error { return nil })
	}
	return outcome, err
}

// storeResult writes the attempt, the call and the health of the webhook. switched means that the
// webhook's circuit was opened or closed.
func storeResult(
	ctx context.Context, tx *db.DB, t *target, result sender.Result, now time.Time,
) (outcome Outcome, switched bool, err error) {
	if err := storeAttempt(ctx, tx, t); err != nil {
		return "", false, err
	}
	// A success of a webhook that does not fail changes nothing, whichever receiver it is of.
	changesHealth := !result.Delivered() || t.hook.FailingSince != nil
	var replaced bool
	if changesHealth {
		if replaced, err = isReplaced(ctx, tx, t.hook); err != nil {
			return "", false, err
		}
	}
	gone, retryAfter, failures := result.Gone(), result.RetryAfter, t.scheduleIndex
	if replaced {
		gone, retryAfter, failures = false, 0, 1 // the receiver that it has now was not asked yet
	}
	outcome = applyResult(t, result, gone, retryAfter, failures, now)
	if !t.scheduled() {
		err = endRequest(ctx, tx, t.call.ID)
	}
	if err == nil && (t.scheduled() || result.Delivered()) {
		err = saveCall(ctx, tx, t.call)
	}
	if err == nil && changesHealth && !replaced {
		switched, err = updateHealth(ctx, tx, t.hook, result, now)
	}
	return outcome, switched, err
}

// storeAttempt writes the outcome of the attempt.
func storeAttempt(ctx context.Context, tx *db.DB, t *target) error {
	// The call is locked before its attempts, as beginAttempt and the erasure do.
	stored, err := lockCall(ctx, tx, t.call.ID)
	if err != nil {
		return err
	}
	// A receiver may repeat what was erased, from the event that it was sent or from its own data.
	if stored.ErasedAt != nil || stored.Data != t.call.Data {
		t.attempt.Response = nil
	}
	return saveAttempt(ctx, tx, &t.attempt)
}

// applyResult sets the call's status from the result. gone and retryAfter are what the webhook's
// receiver asks for, failures the attempts that decide how long the next one waits.
func applyResult(t *target, result sender.Result, gone bool, retryAfter time.Duration, failures int, now time.Time) Outcome {
	if result.Delivered() {
		finalize(t.call, models.WebhookDeliveryDelivered, now)
		return OutcomeDelivered
	}
	if !t.scheduled() {
		// It changes neither the call's status nor its schedule.
		return outcomeFailed + Outcome(result.Message)
	}
	if t.hook.Retry && !gone {
		if wait, more := sender.NextDelay(failures, retryAfter, rand.Float64); more {
			next := clock.Normalize(now.Add(wait))
			t.call.NextAttemptAt, t.call.Queued = &next, true
			return outcomeRetried + Outcome(result.Message)
		}
	}
	finalize(t.call, models.WebhookDeliveryFailed, now)
	return outcomeFailed + Outcome(result.Message)
}

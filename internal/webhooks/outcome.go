package webhooks

import (
	"context"
	"math/rand/v2"
	"time"

	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/webhooks/sender"
	"despacho/models"
)

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

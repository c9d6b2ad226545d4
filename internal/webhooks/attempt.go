package webhooks

import (
	"context"
	"time"

	"despacho/internal/db"
	"despacho/internal/webhooks/sender"
	"despacho/models"
)

// Outcome is how an attempt at a webhook call ended, for readers of Temporal's history and of logs.
// A failed one has the reason after it.
type Outcome string

// The outcomes. A call that is queued is made by the queue, when it can be; one that is settled was
// delivered or given up before.
const (
	OutcomeDelivered Outcome = "delivered"
	OutcomeQueued    Outcome = "queued"
	OutcomeSettled   Outcome = "settled before"
	outcomeFailed    Outcome = "failed: "
	outcomeRetried   Outcome = "queued after a failure: "
)

// abandonedAfter is the age from which an attempt without an outcome counts as lost in a crash; an
// exchange takes at most 5 seconds.
const abandonedAfter = 30 * time.Second

// unsignedFor is how long after its event a call is tried again that no key can sign: whoever runs
// the service may have given the worker another SECRET_KEY by mistake. Then it fails, where its
// owner sees it and can send it again with a new secret.
const unsignedFor = 24 * time.Hour

const (
	textAbandoned = "El envío se interrumpió y no se sabe si llegó."
	textInactive  = "El webhook está desactivado."
	// textStoreClosed is for the webhook of a closed store. Once it is open again it can have the
	// event sent.
	textStoreClosed = "La tienda del webhook está desactivada."
	textUnsigned    = "El secreto del webhook no se puede descifrar y el envío no se puede firmar. Renueve el secreto."
)

// beginAttempt writes the attempt before the request is sent. It returns an outcome if the request
// must not be sent: another process is sending it, or an earlier attempt was lost and may not be
// repeated.
func (s *Service) beginAttempt(ctx context.Context, t *target, at time.Time) (stop Outcome, err error) {
	t.attempt.StartedAt = at
	err = s.DB.InTx(ctx, func(tx *db.DB) error {
		call, attempts, err := lockWithAttempts(ctx, tx, t.call.ID)
		if err != nil {
			return err
		}
		t.call = call
		if stop = t.mustStop(at); stop != "" {
			return nil
		}
		t.attempt.Number = len(attempts) + 1
		t.scheduleIndex = 1 + countScheduled(call, attempts)
		if stop, err = handleAbandoned(ctx, tx, t, attempts, at); err != nil || stop != "" {
			return err
		}
		if stop, err = claimProbe(ctx, tx, t, at); err != nil || stop != "" {
			return err
		}
		return tx.Insert(ctx, &t.attempt)
	})
	return stop, err
}

// mustStop returns the outcome if no attempt is to be made: somebody else has made it. A new call
// is always due, because its time was set by another process's clock. So is one whose time is
// further away than LongestWait: a clock was ahead when it was set.
func (t *target) mustStop(now time.Time) Outcome {
	next := t.call.NextAttemptAt
	switch {
	case !t.scheduled() && t.call.RequestedAt == nil, t.scheduled() && t.call.Status != models.WebhookDeliveryPending:
		return OutcomeSettled
	case !t.scheduled() || next == nil || next.Equal(t.call.CreatedAt):
		return ""
	}
	if wait := next.Sub(now); wait > dueTolerance && wait <= LongestWait {
		return OutcomeQueued
	}
	return ""
}

// dueTolerance is how much earlier than planned an attempt may be made.
const dueTolerance = time.Second

// LongestWait is the longest time between two attempts.
const LongestWait = sender.MaxRetryAfter

// countScheduled counts the attempts of the retry schedule, which begins anew for a call that is
// queued again.
func countScheduled(call *models.WebhookDelivery, attempts []models.WebhookAttempt) (count int) {
	for _, attempt := range attempts {
		if attempt.Cause == models.CauseAuto && attempt.Number > call.AttemptsBefore {
			count++
		}
	}
	return count
}

// handleAbandoned handles a previous attempt without an outcome. If it was this attempt's own
// earlier run, it is repeated only if the webhook has retries; if it had another cause, it does not
// prevent this attempt.
func handleAbandoned(
	ctx context.Context, tx *db.DB, t *target, attempts []models.WebhookAttempt, now time.Time,
) (stop Outcome, err error) {
	abandoned, underWay, err := checkAbandoned(ctx, tx, attempts, now)
	if underWay {
		return OutcomeQueued, err
	}
	if abandoned == nil || err != nil {
		return "", err
	}
	onlyOne := abandoned.Cause == models.CauseAuto && !t.hook.Retry
	if onlyOne && t.call.Status == models.WebhookDeliveryPending {
		finalize(t.call, models.WebhookDeliveryFailed, now)
		if err := saveCall(ctx, tx, t.call); err != nil {
			return "", err
		}
	}
	switch {
	case abandoned.Cause != t.attempt.Cause:
		return "", nil
	case !t.scheduled():
		return outcomeFailed + textAbandoned, endRequest(ctx, tx, t.call.ID)
	case onlyOne:
		return outcomeFailed + textAbandoned, nil
	}
	return "", nil
}

// checkAbandoned checks whether the latest attempt has no outcome. A recent one may still be under
// way. An old one is marked as abandoned.
func checkAbandoned(
	ctx context.Context, tx *db.DB, attempts []models.WebhookAttempt, now time.Time,
) (abandoned *models.WebhookAttempt, underWay bool, err error) {
	if len(attempts) == 0 || attempts[len(attempts)-1].FinishedAt != nil {
		return nil, false, nil
	}
	last := &attempts[len(attempts)-1]
	// One that began in the future, by more than clocks differ, began before a clock was set back.
	if age := now.Sub(last.StartedAt); age < abandonedAfter && age > -abandonedAfter {
		return nil, true, nil
	}
	text := textAbandoned
	last.FinishedAt, last.Error = &now, &text
	return last, false, saveAttempt(ctx, tx, last)
}

// failUnsent ends an attempt without sending anything, and records why in the log of calls. It
// fails a pending call, or if onlyRecord is set leaves it as it is. What was requested is done.
func (s *Service) failUnsent(ctx context.Context, t *target, text string, onlyRecord bool) (outcome Outcome, err error) {
	err = s.DB.InTx(ctx, func(tx *db.DB) error {
		call, attempts, err := lockWithAttempts(ctx, tx, t.call.ID)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		if _, underWay, err := checkAbandoned(ctx, tx, attempts, now); underWay || err != nil {
			outcome = OutcomeQueued
			return err
		}
		outcome = outcomeFailed + Outcome(text)
		if err := endRequest(ctx, tx, call.ID); err != nil {
			return err
		}
		fails := !onlyRecord && call.Status == models.WebhookDeliveryPending
		if fails {
			finalize(call, models.WebhookDeliveryFailed, now)
			err = saveCall(ctx, tx, call)
		}
		if err != nil || !fails && !onlyRecord {
			return err
		}
		return tx.Insert(ctx, &models.WebhookAttempt{
			DeliveryID: call.ID, Number: len(attempts) + 1, Cause: t.attempt.Cause, StartedAt: now, FinishedAt: &now,
			Error: &text,
		})
	})
	return outcome, err
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

func finalize(call *models.WebhookDelivery, status models.WebhookDeliveryStatus, now time.Time) {
	call.Status, call.FinishedAt, call.NextAttemptAt, call.Queued = status, &now, nil, false
}

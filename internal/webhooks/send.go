package webhooks

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

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
	c := claim{
		owner: slotOwner{t.hook.OperatorID, t.hook.Test}, webhook: t.hook.ID, call: t.call.ID,
		failing: t.hook.CircuitOpenedAt != nil, requested: !t.scheduled(),
	}
	if t.hook.OwnerStoreID != nil {
		c.store = *t.hook.OwnerStoreID
	}
	return c
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
	var open bool
	t.hook, open, err = hookToCall(ctx, s.DB, t.call.WebhookID)
	switch {
	case db.IsNotFound(err), err == nil && !t.hook.Active:
		outcome, err = s.failUnsent(ctx, t, textInactive, false)
		return nil, outcome, err
	case err != nil:
		return nil, "", err
	case !open:
		outcome, err = s.failUnsent(ctx, t, textStoreClosed, !t.scheduled())
		return nil, outcome, err
	}
	t.secrets, err = s.secretsOf(t.hook)
	// What was requested is not tried again until a key is found: somebody waits for its outcome.
	if isOld := s.Clock.Now().Sub(t.call.CreatedAt) >= unsignedFor; errors.Is(err, encryption.ErrOpen) &&
		(isOld || !t.scheduled()) {
		outcome, err = s.failUnsent(ctx, t, textUnsigned, !t.scheduled())
	}
	return t, outcome, err
}

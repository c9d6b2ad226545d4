package webhooks

import (
	"context"
	"slices"
	"time"

	"despacho/internal/db"
	"despacho/internal/webhooks/sender"
	"despacho/models"
)

// deactivateAfter is how long the circuit of a webhook may be open before the webhook is
// deactivated. It counts from the failure that opened it: a few failures with quiet days between
// them do not show that its receiver is gone.
const deactivateAfter = 5 * 24 * time.Hour

// maxBreak is the longest time without an attempt that still counts as failing; it is longer than a
// weekend. What lasts longer, as when all webhooks are paused, tells nothing about the receiver:
// the circuit counts as opened by the next failure.
const maxBreak = 3 * 24 * time.Hour

// Reasons of a deactivation, as shown to the webhook's owner.
const (
	textGone    = "El receptor respondió 410: ya no quiere recibir eventos."
	textFailing = "Todos los envíos fallaron durante cinco días."
)

// updateHealth records what an attempt tells about the webhook's receiver. It deactivates a webhook
// whose receiver answered 410 or has failed for days with its circuit open. switched means that its
// circuit was opened or closed.
func updateHealth(
	ctx context.Context, tx *db.DB, hook *models.Webhook, result sender.Result, now time.Time,
) (switched bool, err error) {
	if result.Reason == sender.ReasonInterrupted {
		return false, nil // the worker is stopping
	}
	if result.Delivered() {
		return hook.CircuitOpenedAt != nil, closeCircuit(ctx, tx, hook.ID)
	}
	if result.Gone() {
		return false, deactivate(ctx, tx, hook, textGone, now)
	}
	hook, switched, err = recordFailure(ctx, tx, hook, now)
	if err != nil || !isOpenTooLong(hook, now) {
		return switched, err
	}
	return false, deactivate(ctx, tx, hook, textFailing, now)
}

// isReplaced reports whether the webhook was deleted or has another URL than the one that was
// asked, and locks it until the transaction ends.
func isReplaced(ctx context.Context, tx *db.DB, hook *models.Webhook) (bool, error) {
	stored, err := lockHook(ctx, tx, hook.ID)
	if db.IsNotFound(err) {
		return true, nil
	}
	return err == nil && stored.URL != hook.URL, err
}

// mayDeactivate reports whether updateHealth may deactivate the webhook, as it was read before the
// attempt: since then its circuit can only have been opened later.
func mayDeactivate(hook *models.Webhook, result sender.Result, now time.Time) bool {
	return result.Gone() || !result.Delivered() && isOpenTooLong(hook, now)
}

// isOpenTooLong reports whether a webhook's circuit has been open for deactivateAfter. A paused
// webhook is only sent test events, by whoever repairs its receiver.
func isOpenTooLong(hook *models.Webhook, now time.Time) bool {
	return hook.CircuitOpenedAt != nil && hook.PausedAt == nil && now.Sub(*hook.CircuitOpenedAt) >= deactivateAfter
}

func deactivate(ctx context.Context, tx *db.DB, hook *models.Webhook, reason string, now time.Time) error {
	err := deactivateHook(ctx, tx, db.WebhookScope{OperatorID: hook.OperatorID, Test: hook.Test}, hook.ID, reason, now)
	if db.IsNotFound(err) {
		return nil // already deactivated
	}
	if err != nil {
		return err
	}
	return announceDisabled(ctx, tx, hook, reason, now)
}

// announceDisabled queues webhook.disabled for the webhooks that subscribe to it: the operator's,
// and those of the same store if the webhook was a store's.
func announceDisabled(ctx context.Context, tx *db.DB, disabled *models.Webhook, reason string, now time.Time) error {
	others, err := Active(ctx, tx, db.WebhookScope{OperatorID: disabled.OperatorID, Test: disabled.Test})
	if err != nil {
		return err
	}
	others = slices.DeleteFunc(others, func(other models.Webhook) bool {
		mayKnow := other.OwnerStoreID == nil || disabled.OwnerStoreID != nil && *other.OwnerStoreID == *disabled.OwnerStoreID
		return !mayKnow || !other.SubscribesTo(models.EventWebhookDisabled, disabled.StoreID, disabled.Test)
	})
	return queueEvent(ctx, tx, others, models.EventWebhookDisabled, map[string]any{
		"id": disabled.ID, "webhook_id": disabled.ID, "url": disabled.URL, "store_id": disabled.StoreID, "reason": reason,
		"disabled_at": now.UTC(),
	}, now)
}

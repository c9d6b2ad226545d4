package webhooks

import (
	"context"
	"time"

	"despacho/db"
	"despacho/models"
	"despacho/webhooks/sender"
)

// failingTooLong is after how much time of nothing but failures a webhook is given up.
const deactivateAfter = 5 * 24 * time.Hour

// Why a webhook was given up, as its owner is told.
const (
	textGone    = "El receptor respondió 410: ya no quiere recibir eventos."
	textFailing = "Todos los envíos fallaron durante cinco días."
)

// watchHealth gives a webhook up whose receiver said that it is gone, or that has failed for days
// without a single success.
func updateHealth(ctx context.Context, tx *db.DB, hook *models.Webhook, result sender.Result, now time.Time) error {
	if result.Delivered() {
		if hook.FailingSince == nil {
			return nil
		}
		return tx.SetFailingSince(ctx, hook.ID, nil)
	}
	if result.Gone() {
		return deactivate(ctx, tx, hook, textGone, now)
	}
	// Another delivery may have succeeded while this one was failing.
	hook, err := tx.Webhook(ctx, hook.ID)
	switch {
	case err != nil:
		return err
	case hook.FailingSince == nil:
		return tx.SetFailingSince(ctx, hook.ID, &now)
	case now.Sub(*hook.FailingSince) >= deactivateAfter:
		return deactivate(ctx, tx, hook, textFailing, now)
	}
	return nil
}

func deactivate(ctx context.Context, tx *db.DB, hook *models.Webhook, reason string, now time.Time) error {
	err := tx.DeactivateWebhook(ctx, db.WebhookScope{OperatorID: hook.OperatorID}, hook.ID, reason, now)
	if db.IsNotFound(err) {
		return nil // somebody was quicker
	}
	return err
}

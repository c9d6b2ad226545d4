package demo

import (
	"context"
	"time"

	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/webhooks"
	"despacho/internal/webhooks/sender"
	"despacho/models"
)

// RegisterInbox makes sure that the first operator's events, all of them, go to the development
// inbox.
func RegisterInbox(ctx context.Context, database *db.DB, secrets *encryption.Cipher, address string, now time.Time) error {
	operatorID, webhookID := blueprints[0].operatorID(), id(blueprints[0].slug, "webhook")
	if _, err := database.Webhook(ctx, webhookID); !db.IsNotFound(err) {
		if err != nil {
			return err
		}
		return database.SetWebhookURL(ctx, operatorID, webhookID, address)
	}
	sealed := secrets.Seal([]byte(sender.NewSecret()), webhookID[:])
	return database.ChangeSettings(ctx, operatorID, func(tx *db.DB) error {
		return tx.Insert(ctx, &models.Webhook{
			ID: webhookID, OperatorID: operatorID, URL: address, Events: models.JoinEvents(models.Events),
			Secret: sealed, Active: true, CreatedAt: now,
		})
	})
}

// InboxSecrets are the secrets of every webhook that was ever registered for the inbox.
func InboxSecrets(ctx context.Context, database *db.DB, secrets *encryption.Cipher, address string) ([]string, error) {
	registered, err := database.WebhooksByURL(ctx, address)
	if err != nil {
		return nil, err
	}
	var plain []string
	for _, hook := range registered {
		sealedSecrets := [][]byte{hook.Secret}
		for _, secret := range webhooks.PreviousSecrets(&hook, time.Time{}) {
			sealedSecrets = append(sealedSecrets, secret.Secret)
		}
		for _, sealed := range sealedSecrets {
			secret, err := secrets.Open(sealed, hook.ID[:])
			if err != nil {
				return nil, err
			}
			plain = append(plain, string(secret))
		}
	}
	return plain, nil
}

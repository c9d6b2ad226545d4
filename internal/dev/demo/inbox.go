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
	return database.ChangeSettings(ctx, operatorID, func(tx *db.DB) error {
		changed := tx.Query(ctx).Model(&models.Webhook{}).Where("id = ?", webhookID).Update("url", address)
		if changed.Error != nil || changed.RowsAffected == 1 {
			return changed.Error
		}
		return tx.Insert(ctx, &models.Webhook{
			ID: webhookID, OperatorID: operatorID, URL: address, Events: models.JoinEvents(models.Events),
			Secret: secrets.Seal([]byte(sender.NewSecret()), webhookID[:]), Active: true, CreatedAt: now,
		})
	})
}

// InboxSecrets are the secrets of every webhook that was ever registered for the inbox.
func InboxSecrets(ctx context.Context, database *db.DB, secrets *encryption.Cipher, address string) ([]string, error) {
	var registered []models.Webhook
	if err := database.Query(ctx).Where("url = ?", address).Find(&registered).Error; err != nil {
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

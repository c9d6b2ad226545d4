package webhooks

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"despacho/db"
)

// reencryptBatch is how many webhooks are listed at once.
const reencryptBatch = 200

// Reencrypt encrypts the secrets of every webhook, active or not, with the current key, and returns how
// many changed. Each webhook is changed on its own: an interrupted run is simply repeated.
func (s *Service) Reencrypt(ctx context.Context) (changed int, err error) {
	var after uuid.UUID
	for {
		hooks, err := s.DB.WebhooksAfter(ctx, after, reencryptBatch)
		if err != nil || len(hooks) == 0 {
			return changed, err
		}
		for _, hook := range hooks {
			after = hook.ID
			done, err := s.reencrypt(ctx, hook.OperatorID, hook.ID)
			if err != nil {
				return changed, fmt.Errorf("webhook %s: %w", hook.ID, err)
			}
			if done {
				changed++
			}
		}
	}
}

// reencrypt locks the settings as a rotation of the secret does, so that neither undoes the other.
func (s *Service) reencrypt(ctx context.Context, operatorID, id uuid.UUID) (changed bool, err error) {
	err = s.DB.ChangeSettings(ctx, operatorID, func(tx *db.DB) error {
		hook, err := tx.Webhook(ctx, id)
		if err != nil {
			return err
		}
		for _, secret := range []*[]byte{&hook.Secret, &hook.PreviousSecret} {
			if *secret == nil {
				continue
			}
			resealed, done, err := s.Secrets.Reseal(*secret, hook.ID[:])
			if err != nil {
				return err
			}
			*secret, changed = resealed, changed || done
		}
		if !changed {
			return nil
		}
		return tx.SaveSecrets(ctx, hook)
	})
	return changed, err
}

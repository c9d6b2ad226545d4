package webhooks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/models"
)

// reencryptBatch is how many webhooks are listed at once.
const reencryptBatch = 200

// Reencrypt encrypts the secrets of every webhook, active or not, with the current key, and returns
// how many changed. Each webhook is changed on its own: an interrupted run is simply repeated. A
// secret that no key opens is left as it is and reported at the end, as encryption.ErrOpen.
func (s *Service) Reencrypt(ctx context.Context) (changed int, err error) {
	var unreadable encryption.Unreadable
	var after uuid.UUID
	for {
		hooks, err := hooksAfter(ctx, s.DB, after, reencryptBatch)
		if err != nil {
			return changed, err
		}
		if len(hooks) == 0 {
			return changed, unreadable.Err()
		}
		for _, hook := range hooks {
			after = hook.ID
			done, err := s.reencrypt(ctx, hook.OperatorID, hook.ID, &unreadable)
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
func (s *Service) reencrypt(
	ctx context.Context, operatorID, id uuid.UUID, unreadable *encryption.Unreadable,
) (changed bool, err error) {
	err = s.DB.ChangeSettings(ctx, operatorID, func(tx *db.DB) error {
		hook, err := readHook(ctx, tx, id)
		if err != nil {
			return err
		}
		if changed, err = s.reseal(hook, unreadable); err != nil || !changed {
			return err
		}
		return saveSecrets(ctx, tx, hook)
	})
	return changed, err
}

// reseal encrypts a webhook's secrets with the current key: the one that signs, and those that it
// replaced.
func (s *Service) reseal(hook *models.Webhook, unreadable *encryption.Unreadable) (changed bool, err error) {
	older, err := olderSecrets(hook)
	if err != nil && !unreadable.Add(fmt.Errorf("webhook %s: %w", hook.ID, err)) {
		return false, err
	}
	secrets := []*[]byte{&hook.Secret, &hook.PreviousSecret}
	for i := range older {
		secrets = append(secrets, &older[i].Secret)
	}
	for _, secret := range secrets {
		if *secret == nil {
			continue
		}
		resealed, done, err := s.Secrets.Reseal(*secret, hook.ID[:])
		if err != nil && !unreadable.Add(fmt.Errorf("webhook %s: %w", hook.ID, err)) {
			return false, err
		}
		*secret, changed = resealed, changed || done
	}
	if len(older) > 0 {
		if hook.OlderSecrets, err = json.Marshal(older); err != nil {
			return false, err
		}
	}
	return changed, nil
}

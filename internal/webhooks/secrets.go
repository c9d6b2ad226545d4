package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/jsonbody"
	"despacho/internal/webhooks/sender"
	"despacho/models"
)

// maxPrevious bounds the previous secrets that still sign: each adds a signature to every request.
const maxPrevious = 5

// PreviousSecret is an encrypted secret that was replaced and still signs until a time.
type PreviousSecret struct {
	Secret []byte    `json:"secret"`
	Until  time.Time `json:"until"`
}

// PreviousSecrets returns the secrets of a webhook that were replaced and still sign, the latest
// first. Older ones that cannot be read sign no more.
func PreviousSecrets(hook *models.Webhook, now time.Time) []PreviousSecret {
	var all []PreviousSecret
	if hook.PreviousSecretUntil != nil {
		all = append(all, PreviousSecret{Secret: hook.PreviousSecret, Until: *hook.PreviousSecretUntil})
	}
	older, _ := olderSecrets(hook)
	all = append(all, older...)
	var valid []PreviousSecret
	for _, previous := range all {
		if now.Before(previous.Until) {
			valid = append(valid, previous)
		}
	}
	return valid
}

// olderSecrets returns the secrets that were replaced before the previous one, or
// encryption.ErrOpen if they cannot be read.
func olderSecrets(hook *models.Webhook) (older []PreviousSecret, err error) {
	if hook.OlderSecrets == nil {
		return nil, nil
	}
	if err := json.Unmarshal(hook.OlderSecrets, &older); err != nil {
		return nil, fmt.Errorf("%w: its older secrets are no list: %w", encryption.ErrOpen, err)
	}
	return older, nil
}

// ResealOlderSecrets encrypts a webhook's older secrets with the current key. One that no key opens
// stays as it is, which is encryption.ErrOpen.
func ResealOlderSecrets(
	secrets *encryption.Cipher, id uuid.UUID, stored []byte,
) (resealed []byte, changed bool, err error) {
	older, err := olderSecrets(&models.Webhook{OlderSecrets: stored})
	if err != nil {
		return stored, false, err
	}
	var unopened error
	for i := range older {
		secret, isNew, err := secrets.Reseal(older[i].Secret, id[:])
		older[i].Secret, changed = secret, changed || isNew
		unopened = cmp.Or(unopened, err)
	}
	resealed, err = json.Marshal(older)
	return resealed, changed, cmp.Or(err, unopened)
}

// Rotation is a webhook with its new secret, which is not shown again.
type Rotation struct {
	Webhook *models.Webhook
	Secret  string
	// Revoked means that no earlier secret signs any more.
	Revoked bool
}

// Rotate gives a webhook a new secret. For 24 hours deliveries are also signed with the one that it
// replaces, so that the receiver can switch without losing an event; a later rotation does not cut
// that short. If the request says "revoke", the new secret is the only one that signs. Concurrent
// rotations are serialized, so every caller gets a secret that signs.
func (s *Service) Rotate(ctx context.Context, scope db.WebhookScope, id uuid.UUID, in *jsonbody.Object) (*Rotation, error) {
	revoke := in.Bool("revoke")
	if err := in.Err(); err != nil {
		return nil, err
	}
	rotation := &Rotation{Secret: sender.NewSecret(), Revoked: revoke != nil && *revoke}
	sealed := s.Secrets.Seal([]byte(rotation.Secret), id[:])
	err := s.DB.ChangeSettings(ctx, scope.OperatorID, func(tx *db.DB) error {
		hook, err := activeHook(ctx, tx, scope, id)
		if err != nil {
			return err
		}
		if err := replaceSecret(hook, sealed, rotation.Revoked, s.Clock.Now()); err != nil {
			return err
		}
		rotation.Webhook = hook
		if err := saveSecrets(ctx, tx, hook); err != nil {
			return err
		}
		return s.audit(ctx, tx, hook, models.AuditWebhookRotated)
	})
	if db.IsNotFound(err) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return rotation, nil
}

// replaceSecret sets the current secret and keeps those that still sign, unless they are revoked.
func replaceSecret(hook *models.Webhook, sealed []byte, revoke bool, now time.Time) error {
	replaced := hook.Secret
	older := PreviousSecrets(hook, now)
	hook.Secret, hook.PreviousSecret, hook.PreviousSecretUntil, hook.OlderSecrets = sealed, nil, nil, nil
	if revoke {
		return nil
	}
	if len(older) >= maxPrevious {
		return ErrTooManySecrets
	}
	until := now.Add(rotationOverlap)
	hook.PreviousSecret, hook.PreviousSecretUntil = replaced, &until
	if len(older) == 0 {
		return nil
	}
	var err error
	hook.OlderSecrets, err = json.Marshal(older)
	return err
}

// secretsOf returns the secrets that sign a delivery, the current one first. A replaced secret that
// no key opens is left out: after the loss of a SECRET_KEY a webhook gets events again once its
// secret is replaced.
func (s *Service) secretsOf(hook *models.Webhook) ([]string, error) {
	sealed := [][]byte{hook.Secret}
	for _, secret := range PreviousSecrets(hook, s.Clock.Now()) {
		sealed = append(sealed, secret.Secret)
	}
	var secrets []string
	for i := range sealed {
		plain, err := s.Secrets.Open(sealed[i], hook.ID[:])
		switch {
		case err == nil:
			secrets = append(secrets, string(plain))
		case i == 0 || !errors.Is(err, encryption.ErrOpen):
			return nil, err
		}
	}
	return secrets, nil
}

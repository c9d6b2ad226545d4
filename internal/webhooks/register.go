package webhooks

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/webhooks/sender"
	"despacho/models"
)

// Register creates a webhook and returns it with its secret, which is not shown again.
func (s *Service) Register(
	ctx context.Context, scope db.WebhookScope, in *jsonbody.Object,
) (hook *models.Webhook, secret string, err error) {
	if hook, err = s.readWebhook(ctx, scope, in); err != nil {
		return nil, "", err
	}
	if hook.ID, err = uuid.NewV7(); err != nil {
		return nil, "", err
	}
	hook.Active, hook.CreatedAt = true, s.Clock.Now()
	secret = sender.NewSecret()
	hook.Secret = s.Secrets.Seal([]byte(secret), hook.ID[:])
	return hook, secret, s.DB.ChangeSettings(ctx, hook.OperatorID, func(tx *db.DB) error {
		count, err := countHooksLike(ctx, tx, hook)
		if err != nil {
			return err
		}
		if count >= maxActive {
			return ErrTooMany
		}
		if err := tx.Insert(ctx, hook); err != nil {
			return err
		}
		return s.audit(ctx, tx, hook, models.AuditWebhookCreated)
	})
}

// audit records a change of a webhook by a caller.
func (s *Service) audit(ctx context.Context, tx *db.DB, hook *models.Webhook, action models.AuditAction) error {
	return tx.Audit(ctx, models.AuditEntry{OperatorID: hook.OperatorID, At: s.Clock.Now(), Action: action, SubjectID: &hook.ID})
}

// Deactivate deactivates a webhook that the caller may see.
func (s *Service) Deactivate(ctx context.Context, scope db.WebhookScope, id uuid.UUID) error {
	err := s.DB.InTx(ctx, func(tx *db.DB) error {
		if err := deactivateHook(ctx, tx, scope, id, "Desactivado por su dueño.", s.Clock.Now()); err != nil {
			return err
		}
		return s.audit(ctx, tx, &models.Webhook{ID: id, OperatorID: scope.OperatorID}, models.AuditWebhookRemoved)
	})
	if db.IsNotFound(err) {
		return ErrNotFound
	}
	return err
}

// Webhook reads a webhook that the caller may see, active or not.
func (s *Service) Webhook(ctx context.Context, scope db.WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	hook, err := hookIn(ctx, s.DB, scope, id)
	if db.IsNotFound(err) {
		return nil, ErrNotFound
	}
	return hook, err
}

// List lists the webhooks that the caller may see, active ones first, then newest first.
func (s *Service) List(ctx context.Context, scope db.WebhookScope) ([]models.Webhook, error) {
	return allHooks(ctx, s.DB, scope, maxListed)
}

// findActive reads an active webhook that the caller may see.
func (s *Service) findActive(ctx context.Context, scope db.WebhookScope, id uuid.UUID) (*models.Webhook, error) {
	hook, err := activeHook(ctx, s.DB, scope, id)
	if db.IsNotFound(err) {
		return nil, ErrNotFound
	}
	return hook, err
}

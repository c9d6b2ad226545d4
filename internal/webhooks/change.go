package webhooks

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// change is what a request changes of a webhook; what is nil or empty stays as it is.
type change struct {
	url           string
	events        string
	retry, paused *bool
}

func (s *Service) readChange(in *jsonbody.Object) (change, error) {
	var c change
	if in.Has("url") {
		c.url = s.readURL(in)
	}
	if in.Has("events") {
		c.events = models.JoinEvents(readEvents(in))
	}
	c.retry, c.paused = in.Bool("retry"), in.Bool("paused")
	return c, in.Err()
}

// Change changes the URL, the events and the retries of a webhook, and pauses or resumes it. Its
// secret stays. A new URL gets at once what waits for another attempt. What happens while it is
// paused is stored, and sent when it is resumed; what failed before counts no more then. check
// looks at the webhook while no other request can change it, and refuses the change by an error;
// nil accepts every one.
func (s *Service) Change(
	ctx context.Context, scope db.WebhookScope, id uuid.UUID, in *jsonbody.Object, check func(*models.Webhook) error,
) (*models.Webhook, error) {
	wanted, err := s.readChange(in)
	if err != nil {
		return nil, err
	}
	var hook *models.Webhook
	err = s.DB.ChangeSettings(ctx, scope.OperatorID, func(tx *db.DB) error {
		if hook, err = activeHook(ctx, tx, scope, id); err != nil {
			return err
		}
		if check != nil {
			if err := check(hook); err != nil {
				return err
			}
		}
		before := *hook
		fields := s.applyChange(hook, wanted)
		if len(fields) == 0 {
			return nil
		}
		if hook.URL != before.URL {
			// Their time was planned for another receiver. An attempt locks its delivery before the
			// webhook, so they come first here, too.
			if err := releaseRetries(ctx, tx, id, s.Clock.Now()); err != nil {
				return err
			}
		}
		if err := saveHook(ctx, tx, &before, hook); err != nil {
			return err
		}
		detail := strings.Join(fields, ", ")
		return tx.Audit(ctx, models.AuditEntry{OperatorID: hook.OperatorID, At: s.Clock.Now(), Action: models.AuditWebhookChanged,
			SubjectID: &hook.ID, Detail: &detail})
	})
	if db.IsNotFound(err) {
		return nil, ErrNotFound
	}
	return hook, err
}

// applyChange changes the row and returns the names of the fields that have another value.
func (s *Service) applyChange(hook *models.Webhook, wanted change) (fields []string) {
	if wanted.url != "" && wanted.url != hook.URL {
		hook.URL, fields = wanted.url, append(fields, "url")
	}
	if wanted.events != "" && wanted.events != hook.Events {
		hook.Events, fields = wanted.events, append(fields, "events")
	}
	if wanted.retry != nil && *wanted.retry != hook.Retry {
		hook.Retry, fields = *wanted.retry, append(fields, "retry")
	}
	if wanted.paused != nil && *wanted.paused != (hook.PausedAt != nil) {
		hook.PausedAt, fields = nil, append(fields, "paused")
		if *wanted.paused {
			now := s.Clock.Now()
			hook.PausedAt = &now
		}
	}
	return fields
}

package webhooks

import (
	"time"

	"despacho/internal/apperror"
	"despacho/models"
)

// ErrPaused refuses what would call a receiver while webhooks are paused.
var ErrPaused = &apperror.Error{
	Kind: apperror.Unavailable, Code: "webhooks_paused", RetryAfter: time.Minute,
	Message: "El envío de webhooks está en pausa. Los eventos se guardan y se enviarán cuando se reanude.",
}

// isPaused reports whether a call must wait: all webhooks are paused, or its own is. A test event
// is sent to a paused webhook all the same: its owner can try it before it is resumed.
func (s *Service) isPaused(t *target) bool {
	return s.Paused || t.hook.PausedAt != nil && t.call.Event != models.EventTest
}

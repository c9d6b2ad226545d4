package webhooks

import (
	"context"
	"time"

	"despacho/internal/apperror"
)

// ErrPaused refuses what would call a receiver while webhooks are paused.
var ErrPaused = &apperror.Error{
	Kind: apperror.Unavailable, Code: "webhooks_paused", RetryAfter: time.Minute,
	Message: "El envío de webhooks está en pausa. Los eventos se guardan y se enviarán cuando se reanude.",
}

// While webhooks are paused a delivery comes back after half of its age, within bounds: after a short
// pause it is sent soon, and in a long one many of them cost little.
const minPauseDelay, maxPauseDelay = 10 * time.Second, 10 * time.Minute

// hold puts a delivery off because webhooks are paused. It is not an attempt: the delivery stays
// pending with its attempts as they are.
func (s *Service) hold(ctx context.Context, t *target) error {
	age := s.Clock.Now().Sub(t.delivery.CreatedAt)
	return s.reschedule(ctx, t, min(max(age/2, minPauseDelay), maxPauseDelay), "webhooks are paused")
}

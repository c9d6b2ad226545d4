package webhooks

import (
	"time"

	"despacho/internal/apperror"
)

// ErrPaused refuses what would call a receiver while webhooks are paused.
var ErrPaused = &apperror.Error{
	Kind: apperror.Unavailable, Code: "webhooks_paused", RetryAfter: time.Minute,
	Message: "El envío de webhooks está en pausa. Los eventos se guardan y se enviarán cuando se reanude.",
}

// pauseRetryDelay is the time until a redelivery that was asked for before a pause is tried again.
// Scheduled deliveries are queued instead.
const pauseRetryDelay = time.Minute

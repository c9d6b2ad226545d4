// Package webhooks holds the use cases of webhooks: registering them, sending deliveries, and
// looking at what came of it.
package webhooks

import (
	"net/netip"
	"time"

	"go.temporal.io/sdk/client"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/encryption"
	"despacho/webhooks/sender"
)

// Service registers webhooks and sends their deliveries.
type Service struct {
	DB        *db.DB
	Secrets   *encryption.Cipher
	Clock     clock.Clock
	Temporal  client.Client
	TaskQueue string
	// OutcomeTimeout is how long a person waits to hear what the receiver said.
	OutcomeTimeout time.Duration
	// AllowNets are private networks that webhooks may be registered at all the same; only the API
	// needs them.
	AllowNets []netip.Prefix
	// Sender is what calls receivers; only the worker has one.
	Sender *sender.Sender
}

// What callers are told.
var (
	ErrNotFound         = apperror.New(apperror.NotFound, "webhook_not_found", "El webhook no existe o ya está desactivado.")
	ErrDeliveryNotFound = apperror.New(apperror.NotFound, "delivery_not_found", "La entrega no existe.")
	ErrTooMany          = apperror.New(apperror.Conflict, "too_many_webhooks", "Ya hay 20 webhooks activos: desactive uno antes de registrar otro.")
	ErrNoOutcome        = &apperror.Error{
		Kind: apperror.Unavailable, Code: "try_again", RetryAfter: 5 * time.Second,
		Message: "El envío no se pudo confirmar a tiempo. Consulte el registro de entregas antes de volver a intentarlo.",
	}
)

const (
	// MaxActive is how many active webhooks an operator, or one of its stores, may have.
	MaxActive = 20
	// maxListed keeps a list short that grows with every webhook that is over.
	maxListed = 200
	// rotationOverlap is how long the old secret stays good beside the new one.
	rotationOverlap = 24 * time.Hour
)

// Package webhooks holds the use cases of webhooks: registration, webhook calls, redelivery and the
// log of calls.
package webhooks

import (
	"net/netip"
	"time"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/photourl"
	"despacho/internal/webhooks/sender"
)

// Service registers webhooks and calls them.
type Service struct {
	DB      *db.DB
	Secrets *encryption.Cipher
	Clock   clock.Clock
	// Paused means that no receiver is called: events wait.
	Paused bool
	// OutcomeTimeout is how long a caller waits for the outcome of a redelivery.
	OutcomeTimeout time.Duration
	// AllowNets are private networks that webhook URLs may point to; only the API needs them.
	AllowNets []netip.Prefix
	// PhotoURLs signs the address of the photo in an event that is sent.
	PhotoURLs *photourl.Signer
	// Sender sends the requests and Slots bounds them; only the worker has them.
	Sender *sender.Sender
	Slots  *Slots
}

// Errors returned to callers.
var (
	ErrNotFound         = apperror.New(apperror.NotFound, "webhook_not_found", "El webhook no existe o ya está desactivado.")
	ErrDeliveryNotFound = apperror.New(apperror.NotFound, "delivery_not_found", "La entrega no existe.")
	ErrHookPaused       = apperror.New(apperror.Conflict, "webhook_paused",
		"El webhook está en pausa: reanúdelo para reenviarle eventos.")
	ErrTooMany = apperror.New(apperror.Conflict, "too_many_webhooks",
		"Ya hay 20 webhooks activos: desactive uno antes de registrar otro.")
	ErrTooManySecrets = apperror.New(apperror.Conflict, "too_many_secrets",
		"Ya hay 5 secretos anteriores que todavía valen: espere a que venza uno, o anúlelos con el cambio.")
	ErrTooManyAttempts = apperror.New(apperror.Conflict, "too_many_attempts",
		"La entrega ya tiene 50 intentos y no se envía más: consulte el pedido.")
	// ErrTestRunning comes until the receiver has answered, or its time is over.
	ErrTestRunning = &apperror.Error{
		Kind: apperror.TooMany, Code: "too_many_requests", RetryAfter: 5 * time.Second,
		Message: "Ya se está enviando un evento de prueba a este webhook: espere su resultado.",
	}
	errRedeliveryRunning = apperror.New(apperror.Conflict, "redelivery_running",
		"Ya hay un reenvío en curso para este webhook.")
	ErrNoOutcome = &apperror.Error{
		Kind: apperror.Unavailable, Code: "try_again", RetryAfter: 5 * time.Second,
		Message: "El envío no se pudo confirmar a tiempo. Consulte el registro de entregas antes de volver a intentarlo.",
	}
)

const (
	// maxActive is the largest number of active webhooks of an operator, or of one of its stores.
	maxActive = 20
	// maxListed bounds the list, which includes inactive webhooks.
	maxListed = 200
	// rotationOverlap is how long a secret that was replaced stays valid.
	rotationOverlap = 24 * time.Hour
)

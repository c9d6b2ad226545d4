// Package riders holds the use cases about the phones of riders: an operator hands out a link, the
// rider activates a phone with it and chooses a PIN, and the phone works for the rider until the
// operator takes the access away.
package riders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/models"
)

// Errors shown to riders, and in the panel to whoever hands out links.
var (
	ErrRiderNotFound = apperror.New(apperror.NotFound, "rider_not_found", "El motorizado no existe.")
	ErrRiderInactive = apperror.New(apperror.Conflict, "rider_inactive",
		"El motorizado está inactivo: actívelo antes de darle un enlace.")

	ErrLinkInvalid = apperror.New(apperror.Unauthenticated, "link_invalid",
		"El enlace ya se usó o venció. Pida otro a su operador.")
	ErrNoDevice = apperror.New(apperror.Unauthenticated, "no_device",
		"Este celular no está enlazado. Pida un enlace a su operador.")
	ErrDeviceRevoked = apperror.New(apperror.Unauthenticated, "device_revoked",
		"Este celular ya no tiene acceso. Pida otro enlace a su operador.")
	ErrPINRequired = apperror.New(apperror.Unauthenticated, "pin_required", "Escriba su PIN para continuar.")
	ErrPINWrong    = apperror.New(apperror.Unauthenticated, "pin_wrong", "El PIN no es correcto.")
	ErrSuspended   = apperror.New(apperror.Forbidden, "operator_suspended",
		"El operador está suspendido: puede consultar, pero no registrar nada.")
)

// Service implements the use cases for the panel and for the phones.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	passwords *credentials.Pool
}

// Options are the dependencies of a Service.
type Options struct {
	DB    *db.DB
	Clock clock.Clock
	// Passwords hashes the PINs. Whoever only hands out links needs none.
	Passwords *credentials.Pool
}

// New returns the service.
func New(options Options) *Service {
	return &Service{db: options.DB, clock: options.Clock, passwords: options.Passwords}
}

// lockRider locks an operator's rider, so that two links, two activations or an activation and the
// end of the access wait for each other.
func lockRider(ctx context.Context, tx *db.DB, operatorID, riderID uuid.UUID) (*models.Rider, error) {
	var rider models.Rider
	// Orders may still refer to the rider.
	err := tx.QueryForNoKeyUpdate(ctx).Where("operator_id = ? AND id = ? AND NOT test", operatorID, riderID).Take(&rider).Error
	return &rider, err
}

// audit records what happened to a rider's access, in the transaction of the change. The entry is
// about the rider, whose name people know.
func audit(ctx context.Context, tx *db.DB, rider *models.Rider, action models.AuditAction, now time.Time, detail string) error {
	entry := models.AuditEntry{OperatorID: rider.OperatorID, At: now, Action: action, SubjectID: &rider.ID}
	if detail != "" {
		entry.Detail = &detail
	}
	return tx.Audit(ctx, entry)
}

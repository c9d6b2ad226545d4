// Package cash closes the day: what riders owe the operator and hand in, and what the operator owes
// its stores and pays them. Every amount is a sum of postings of the ledger.
package cash

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/models"
)

// Service implements the use cases for the panel, the riders and the API.
type Service struct {
	db    *db.DB
	clock clock.Clock
}

// New returns the service.
func New(database *db.DB, clk clock.Clock) *Service { return &Service{db: database, clock: clk} }

// Caller is a panel user of an operator.
type Caller struct {
	Operator *models.Operator
	UserID   uuid.UUID
}

// The errors of this package.
var (
	ErrRiderNotFound      = apperror.New(apperror.NotFound, "rider_not_found", "El motorizado no existe.")
	ErrStoreNotFound      = apperror.New(apperror.NotFound, "store_not_found", "La tienda no existe.")
	ErrHandInNotFound     = apperror.New(apperror.NotFound, "hand_in_not_found", "La rendición no existe.")
	ErrSettlementNotFound = apperror.New(apperror.NotFound, "settlement_not_found", "La liquidación no existe.")
	ErrAlreadyPaid        = apperror.New(apperror.Conflict, "already_paid", "La liquidación ya está pagada.")
	ErrNothingDue         = apperror.New(apperror.Conflict, "nothing_due", "El motorizado no tiene nada por rendir.")
	ErrNothingToSettle    = apperror.New(apperror.Conflict, "nothing_to_settle", "No hay nada por liquidar hasta ese día.")
	ErrPeriodClosed       = apperror.New(apperror.Conflict, "period_closed", "Ya hay una liquidación hasta un día posterior.")
	ErrAmountsChanged     = apperror.New(apperror.Conflict, "amounts_changed",
		"Los montos cambiaron desde que abrió la página. Revíselos y confirme otra vez.")
)

// today is the operator's date.
func (s *Service) today(operator *models.Operator) string {
	return s.clock.Now().In(operator.TimeZone()).Format(time.DateOnly)
}

// inBooks runs fn in a transaction in which nobody else hands in, settles or pays money of the
// operator: documents are numbered without gaps, and each amount is closed once.
func (s *Service) inBooks(ctx context.Context, operator *models.Operator, fn func(tx *db.DB) error) error {
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.QueryForNoKeyUpdate(ctx).Select("id").Where("id = ?", operator.ID).Take(&models.Operator{}).Error; err != nil {
			return err
		}
		return fn(tx)
	})
}

// nextNumber is the number of an operator's next T.
func nextNumber[T any](ctx context.Context, tx *db.DB, operator *models.Operator) (number int, err error) {
	err = tx.Query(ctx).Model(new(T)).Where("operator_id = ?", operator.ID).Select("COALESCE(MAX(number), 0) + 1").Scan(&number).Error
	return number, err
}

func (s *Service) audit(ctx context.Context, tx *db.DB, caller Caller, action models.AuditAction, subject uuid.UUID) error {
	return tx.Audit(ctx, models.AuditEntry{OperatorID: caller.Operator.ID, At: s.clock.Now(), Action: action, SubjectID: &subject})
}

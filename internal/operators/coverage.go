package operators

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Coverage are the locations that an operator covers with everything below them, oldest row first.
func (s *Service) Coverage() Rows[models.Coverage] {
	return Rows[models.Coverage]{
		service: s, patch: patchCoverage, errs: rowErrors{ErrCoverageNotFound, ErrCoveredTwice},
		begin: func(id uuid.UUID, operator *models.Operator, now time.Time) models.Coverage {
			return models.Coverage{ID: id, OperatorID: operator.ID, CreatedAt: now}
		},
	}
}

// DeleteCoverage deletes a coverage row. The location stays covered if an ancestor is.
func (s *Service) DeleteCoverage(ctx context.Context, operator *models.Operator, id uuid.UUID) error {
	err := s.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		covered, err := findOwned[models.Coverage](ctx, tx, operator.ID, id)
		if err != nil {
			return err
		}
		if err := tx.Query(ctx).Delete(covered).Error; err != nil {
			return err
		}
		return s.audit(ctx, tx, operator.ID, models.AuditCoverageRemoved, &covered.LocationID, "")
	})
	return rowErrors{notFound: ErrCoverageNotFound}.replace(err)
}

func patchCoverage(ctx context.Context, tx *db.DB, _ *models.Operator, covered *models.Coverage, in *jsonbody.Object) error {
	if covered.LocationID == uuid.Nil || in.Has("location_id") {
		covered.LocationID = in.RequiredUUID("location_id")
		if err := checkLocation(ctx, tx, in, &covered.LocationID); err != nil {
			return err
		}
	}
	readMoney(in, "price", &covered.Price)
	return in.Err()
}

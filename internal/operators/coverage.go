package operators

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Coverage lists the locations that an operator covers, oldest row first.
func (s *Service) Coverage(ctx context.Context, operator *models.Operator) ([]models.Coverage, error) {
	return listOwned[models.Coverage](ctx, s.db, operator.ID)
}

// CreateCoverage covers a location and everything below it.
func (s *Service) CreateCoverage(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.Coverage, error) {
	covered := &models.Coverage{ID: uuid.New(), OperatorID: operator.ID, CreatedAt: s.clock.Now()}
	return create(ctx, s, operator, covered, ErrCoveredTwice, patchCoverage(ctx, in))
}

// ChangeCoverage changes the price of a coverage row, or its location.
func (s *Service) ChangeCoverage(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*models.Coverage) error) (*models.Coverage, error) {
	return change(ctx, s, operator, id, check, rowErrors{ErrCoverageNotFound, ErrCoveredTwice}, patchCoverage(ctx, in))
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

func patchCoverage(ctx context.Context, in *jsonbody.Object) patch[models.Coverage] {
	return func(tx *db.DB, covered *models.Coverage) error {
		if covered.LocationID == uuid.Nil || in.Has("location_id") {
			covered.LocationID = in.RequiredUUID("location_id")
			if err := checkLocation(ctx, tx, in, &covered.LocationID); err != nil {
				return err
			}
		}
		if in.HasOrNull("price") {
			covered.Price = in.Money("price")
		}
		return in.Err()
	}
}

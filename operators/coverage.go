package operators

import (
	"context"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Coverage lists the places that an operator covers, in the order it took them in.
func (s *Service) Coverage(ctx context.Context, operator *models.Operator) ([]models.Coverage, error) {
	return db.ListOwned[models.Coverage](ctx, s.db, operator.ID)
}

// CreateCoverage covers a place and everything below it.
func (s *Service) CreateCoverage(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.Coverage, error) {
	covered := &models.Coverage{ID: uuid.New(), OperatorID: operator.ID, CreatedAt: s.clock.Now()}
	covered, err := create(ctx, s, operator, covered, layCoverage(ctx, in))
	return orCoveredTwice(covered, err)
}

// ChangeCoverage changes the price of a covered place, or the place.
func (s *Service) ChangeCoverage(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object) (*models.Coverage, error) {
	covered, err := change(ctx, s, operator, id, layCoverage(ctx, in))
	if db.IsNotFound(err) {
		return nil, ErrCoverageNotFound
	}
	return orCoveredTwice(covered, err)
}

// DeleteCoverage stops covering a place, unless a wider one that covers it stays.
func (s *Service) DeleteCoverage(ctx context.Context, operator *models.Operator, id uuid.UUID) error {
	err := s.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error { return tx.DeleteCoverage(ctx, operator.ID, id) })
	if db.IsNotFound(err) {
		return ErrCoverageNotFound
	}
	return err
}

func orCoveredTwice(covered *models.Coverage, err error) (*models.Coverage, error) {
	if db.IsDuplicate(err) {
		return nil, ErrCoveredTwice
	}
	return covered, err
}

func layCoverage(ctx context.Context, in *jsonbody.Object) patch[models.Coverage] {
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

package operators

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/phone"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Riders lists an operator's riders by name, including inactive ones.
func (s *Service) Riders(ctx context.Context, operator *models.Operator) ([]models.Rider, error) {
	return list(ctx, s, operator, func(a, b models.Rider) int { return textnorm.Compare(a.Name, b.Name) })
}

// CreateRider creates a rider.
func (s *Service) CreateRider(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.Rider, error) {
	rider := &models.Rider{ID: uuid.New(), OperatorID: operator.ID, Active: true, CreatedAt: s.clock.Now()}
	return create(ctx, s, operator, rider, nil, patchRider(operator, in))
}

// ChangeRider changes a rider. An inactive rider gets no new orders.
func (s *Service) ChangeRider(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*models.Rider) error) (*models.Rider, error) {
	return change(ctx, s, operator, id, check, rowErrors{notFound: ErrRiderNotFound}, patchRider(operator, in))
}

func patchRider(operator *models.Operator, in *jsonbody.Object) patch[models.Rider] {
	return func(_ *db.DB, rider *models.Rider) error {
		readName(in, &rider.Name)
		if rider.Phone == "" || in.Has("phone") {
			rider.Phone = phone.Read(in, "phone", operator.CountryCode)
		}
		readFlag(in, "active", &rider.Active)
		return in.Err()
	}
}

package operators

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/phone"
	"despacho/internal/riders"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Riders are an operator's riders by name. An inactive rider gets no new orders.
func (s *Service) Riders() Rows[models.Rider] {
	return Rows[models.Rider]{
		service: s, patch: s.patchRider, errs: rowErrors{notFound: riders.ErrRiderNotFound},
		order: func(a, b models.Rider) int { return textnorm.Compare(a.Name, b.Name) },
		begin: func(id uuid.UUID, operator *models.Operator, now time.Time) models.Rider {
			return models.Rider{ID: id, OperatorID: operator.ID, Active: true, CreatedAt: now}
		},
	}
}

// patchRider refuses a second active rider of one name and phone. The operator's settings are
// locked meanwhile, so that of two at once one is refused. Deactivating a rider ends the access of
// the rider's phone.
func (s *Service) patchRider(
	ctx context.Context, tx *db.DB, operator *models.Operator, rider *models.Rider, in *jsonbody.Object,
) error {
	readName(in, &rider.Name)
	if rider.Phone == "" || in.Has("phone") {
		rider.Phone = phone.Read(in, "phone", operator.CountryCode)
	}
	readFlag(in, "active", &rider.Active)
	if err := in.Err(); err != nil {
		return err
	}
	if !rider.Active {
		return riders.End(ctx, tx, rider, s.clock.Now())
	}
	others, err := listOwned[models.Rider](ctx, tx, operator.ID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(others, func(other models.Rider) bool {
		return other.ID != rider.ID && other.Active && other.Phone == rider.Phone &&
			textnorm.String(other.Name) == textnorm.String(rider.Name)
	}) {
		in.AddError("phone", "es el de otro motorizado activo con el mismo nombre")
	}
	return in.Err()
}

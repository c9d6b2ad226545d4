package operators

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/internal/phone"
	"despacho/internal/textnorm"
	"despacho/models"
)

// Riders are an operator's riders by name. An inactive rider gets no new orders.
func (s *Service) Riders() Rows[models.Rider] {
	return Rows[models.Rider]{
		service: s, patch: patchRider, errs: rowErrors{notFound: ErrRiderNotFound},
		order: func(a, b models.Rider) int { return textnorm.Compare(a.Name, b.Name) },
		begin: func(id uuid.UUID, operator *models.Operator, now time.Time) models.Rider {
			return models.Rider{ID: id, OperatorID: operator.ID, Active: true, CreatedAt: now}
		},
	}
}

func patchRider(_ context.Context, _ *db.DB, operator *models.Operator, rider *models.Rider, in *jsonbody.Object) error {
	readName(in, &rider.Name)
	if rider.Phone == "" || in.Has("phone") {
		rider.Phone = phone.Read(in, "phone", operator.CountryCode)
	}
	readFlag(in, "active", &rider.Active)
	return in.Err()
}

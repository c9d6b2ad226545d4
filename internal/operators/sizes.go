package operators

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// maxSizeCode is the largest length of a size's code, in characters.
const maxSizeCode = 20

// Sizes are an operator's sizes in ascending order of surcharge. Existing orders keep their code
// and price when one is changed.
func (s *Service) Sizes() Rows[models.Size] {
	return Rows[models.Size]{
		service: s, patch: patchSize, errs: rowErrors{ErrSizeNotFound, ErrCodeTaken},
		order: models.CompareSizes,
		begin: func(id uuid.UUID, operator *models.Operator, now time.Time) models.Size {
			return models.Size{ID: id, OperatorID: operator.ID, Active: true, CreatedAt: now}
		},
	}
}

func patchSize(ctx context.Context, tx *db.DB, _ *models.Operator, size *models.Size, in *jsonbody.Object) error {
	wasDefault := size.IsDefault
	if size.Code == "" || in.Has("code") {
		size.Code = in.RequiredText("code", maxSizeCode)
	}
	readName(in, &size.Name)
	if surcharge := in.Money("surcharge"); surcharge != nil {
		size.Surcharge = *surcharge
	}
	readFlag(in, "default", &size.IsDefault)
	readFlag(in, "active", &size.Active)
	if err := in.Err(); err != nil {
		return err
	}
	return keepOneMarked(wasDefault, size.IsDefault, size.Active, ErrDefaultSize, func() error {
		return tx.Query(ctx).Model(&models.Size{}).Where("operator_id = ? AND is_default", size.OperatorID).Update("is_default",
			false).Error
	})
}

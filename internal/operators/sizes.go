package operators

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// maxSizeCode is the largest length of a size's code, in characters.
const maxSizeCode = 20

// Sizes lists an operator's sizes in ascending order of surcharge.
func (s *Service) Sizes(ctx context.Context, operator *models.Operator) ([]models.Size, error) {
	return list(ctx, s, operator, models.CompareSizes)
}

// CreateSize adds a size.
func (s *Service) CreateSize(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.Size, error) {
	size := &models.Size{ID: uuid.New(), OperatorID: operator.ID, Active: true, CreatedAt: s.clock.Now()}
	return create(ctx, s, operator, size, ErrCodeTaken, patchSize(ctx, in))
}

// ChangeSize changes a size. Existing orders keep their code and price.
func (s *Service) ChangeSize(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*models.Size) error) (*models.Size, error) {
	return change(ctx, s, operator, id, check, rowErrors{ErrSizeNotFound, ErrCodeTaken}, patchSize(ctx, in))
}

func patchSize(ctx context.Context, in *jsonbody.Object) patch[models.Size] {
	return func(tx *db.DB, size *models.Size) error {
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
			return tx.Query(ctx).Model(&models.Size{}).Where("operator_id = ? AND is_default", size.OperatorID).Update("is_default", false).Error
		})
	}
}

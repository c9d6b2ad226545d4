package operators

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Branches lists an operator's branches, the main one first and the others by name.
func (s *Service) Branches(ctx context.Context, operator *models.Operator) ([]models.Branch, error) {
	return list(ctx, s, operator, models.CompareBranches)
}

// CreateBranch creates a branch.
func (s *Service) CreateBranch(ctx context.Context, operator *models.Operator, in *jsonbody.Object) (*models.Branch, error) {
	branch := &models.Branch{ID: uuid.New(), OperatorID: operator.ID, Active: true, CreatedAt: s.clock.Now()}
	return create(ctx, s, operator, branch, nil, patchBranch(ctx, in))
}

// ChangeBranch changes a branch.
func (s *Service) ChangeBranch(ctx context.Context, operator *models.Operator, id uuid.UUID, in *jsonbody.Object, check func(*models.Branch) error) (*models.Branch, error) {
	return change(ctx, s, operator, id, check, rowErrors{notFound: ErrBranchNotFound}, patchBranch(ctx, in))
}

func patchBranch(ctx context.Context, in *jsonbody.Object) patch[models.Branch] {
	return func(tx *db.DB, branch *models.Branch) error {
		wasMain := branch.Main
		readName(in, &branch.Name)
		readFlag(in, "main", &branch.Main)
		readFlag(in, "active", &branch.Active)
		if err := in.Err(); err != nil {
			return err
		}
		return keepOneMarked(wasMain, branch.Main, branch.Active, ErrMainBranch, func() error {
			return tx.Query(ctx).Model(&models.Branch{}).Where("operator_id = ? AND main", branch.OperatorID).Update("main", false).Error
		})
	}
}

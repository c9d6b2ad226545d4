package operators

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Branches are an operator's branches, the main one first and the others by name.
func (s *Service) Branches() Rows[models.Branch] {
	return Rows[models.Branch]{
		service: s, order: models.CompareBranches, patch: patchBranch, errs: rowErrors{notFound: ErrBranchNotFound},
		begin: func(id uuid.UUID, operator *models.Operator, now time.Time) models.Branch {
			return models.Branch{ID: id, OperatorID: operator.ID, Active: true, CreatedAt: now}
		},
	}
}

func patchBranch(ctx context.Context, tx *db.DB, _ *models.Operator, branch *models.Branch, in *jsonbody.Object) error {
	wasMain := branch.Main
	readName(in, &branch.Name)
	readFlag(in, "main", &branch.Main)
	readFlag(in, "active", &branch.Active)
	if err := in.Err(); err != nil {
		return err
	}
	return keepOneMarked(wasMain, branch.Main, branch.Active, ErrMainBranch, func() error {
		return tx.Query(ctx).Model(&models.Branch{}).Where("operator_id = ? AND main", branch.OperatorID).Update("main",
			false).Error
	})
}

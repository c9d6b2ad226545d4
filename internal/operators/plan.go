package operators

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"despacho/internal/db"
	"despacho/models"
)

// SetPlan changes an operator's plan from the next request on.
func (s *Service) SetPlan(ctx context.Context, idOrName string, plan models.Plan) (*models.Operator, error) {
	if err := checkPlan(plan); err != nil {
		return nil, err
	}
	operator, err := s.Find(ctx, idOrName)
	if err != nil {
		return nil, err
	}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		err := tx.Query(ctx).Model(operator).Updates(map[string]any{"plan": plan, "updated_at": s.clock.Now()}).Error
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, operator.ID, models.AuditPlanChanged, nil, string(plan))
	})
	if err != nil {
		return nil, err
	}
	return s.db.Operator(ctx, operator.ID)
}

// Suspend blocks the API for an operator and its stores; the panel becomes read-only. Suspending
// again keeps the first date.
func (s *Service) Suspend(ctx context.Context, idOrName string) (*models.Operator, error) {
	now := s.clock.Now()
	return s.setSuspended(ctx, idOrName, &now)
}

// Resume ends a suspension.
func (s *Service) Resume(ctx context.Context, idOrName string) (*models.Operator, error) {
	return s.setSuspended(ctx, idOrName, nil)
}

func (s *Service) setSuspended(ctx context.Context, idOrName string, since *time.Time) (*models.Operator, error) {
	operator, err := s.Find(ctx, idOrName)
	if err != nil || operator.Suspended() == (since != nil) {
		return operator, err
	}
	action := models.AuditSuspended
	if since == nil {
		action = models.AuditResumed
	}
	// With the settings version, because what a suspended operator covers counts as not covered.
	err = s.db.ChangeSettings(ctx, operator.ID, func(tx *db.DB) error {
		err := tx.Query(ctx).Model(operator).Updates(map[string]any{"suspended_at": since, "updated_at": s.clock.Now()}).Error
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, operator.ID, action, nil, "")
	})
	if err != nil {
		return nil, err
	}
	return s.db.Operator(ctx, operator.ID)
}

func checkPlan(plan models.Plan) error {
	if slices.Contains(models.Plans, plan) {
		return nil
	}
	return fmt.Errorf("%q is not a plan: use %s", plan, PlanNames(", "))
}

// PlanNames joins the names of the plans.
func PlanNames(separator string) string {
	names := make([]string, len(models.Plans))
	for i, plan := range models.Plans {
		names[i] = string(plan)
	}
	return strings.Join(names, separator)
}

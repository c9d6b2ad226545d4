package db

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/textnorm"
	"despacho/models"
)

// Operators lists every operator by name.
func (d *DB) Operators(ctx context.Context) ([]models.Operator, error) {
	var operators []models.Operator
	err := d.with(ctx).Order("created_at, id").Find(&operators).Error
	slices.SortStableFunc(operators, func(a, b models.Operator) int { return textnorm.Compare(a.Name, b.Name) })
	return operators, err
}

// Operator finds one operator.
func (d *DB) Operator(ctx context.Context, id uuid.UUID) (*models.Operator, error) {
	var operator models.Operator
	err := d.with(ctx).Where("id = ?", id).Take(&operator).Error
	return &operator, err
}

// SetPlan changes an operator's plan.
func (d *DB) SetPlan(ctx context.Context, id uuid.UUID, plan models.Plan, now time.Time) error {
	return requireOneRow(d.with(ctx).Model(&models.Operator{}).Where("id = ?", id).
		Updates(map[string]any{"plan": plan, "updated_at": now}))
}

// SetSuspended suspends an operator from the given time on, or resumes it with nil. It increments
// the settings version, because what a suspended operator covers counts as not covered.
func (d *DB) SetSuspended(ctx context.Context, id uuid.UUID, since *time.Time, now time.Time) error {
	return requireOneRow(d.with(ctx).Model(&models.Operator{}).Where("id = ?", id).
		Updates(map[string]any{"suspended_at": since, "updated_at": now, "settings_version": gorm.Expr("settings_version + 1")}))
}

// SaveOperatorSettings writes the settings that an operator manages itself.
func (d *DB) SaveOperatorSettings(ctx context.Context, operator *models.Operator) error {
	return requireOneRow(d.with(ctx).Model(&models.Operator{}).Where("id = ?", operator.ID).Updates(map[string]any{
		"name": operator.Name, "logo_url": operator.LogoURL, "logo_photo": operator.LogoPhoto, "base_price_cents": operator.BasePrice,
		"share_proof_location": operator.ShareProofLocation, "share_proof_photo": operator.ShareProofPhoto, "require_second_factor": operator.RequireSecondFactor,
		"updated_at": operator.UpdatedAt,
	}))
}

// Country finds a country of the catalog.
func (d *DB) Country(ctx context.Context, code string) (*models.Country, error) {
	var country models.Country
	err := d.with(ctx).Where("code = ?", code).Take(&country).Error
	return &country, err
}

// LockOperator locks an operator's row until the transaction ends, so that what is counted in it
// stays valid.
func (d *DB) LockOperator(ctx context.Context, id uuid.UUID) error {
	return d.lock(ctx, "NO KEY UPDATE").Select("id").Where("id = ?", id).Take(&models.Operator{}).Error
}

// LockOperatorNames makes transactions that create or rename operators wait for each other, until
// this one ends.
func (d *DB) LockOperatorNames(ctx context.Context) error {
	if d.dialect == SQLite {
		return nil // it has a single writer
	}
	return d.with(ctx).Exec("LOCK TABLE operators IN SHARE ROW EXCLUSIVE MODE").Error
}

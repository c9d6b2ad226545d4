package db

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/money"
	"despacho/models"
)

// Settings is the configuration of an operator that creating and moving orders needs.
type Settings struct {
	// Version is that of all of it, and BasePrice the operator's.
	Version   int64
	BasePrice *money.Cents
	Branches  []models.Branch
	Stores    []models.Store
	// Sizes are also the inactive ones: an order may have one that is not offered any more.
	Sizes     []models.Size
	Coverage  []models.Coverage
	RiskZones []models.RiskZone
	Webhooks  []models.Webhook
	// Riders are those who may get orders.
	Riders []models.Rider
}

// OperatorSettings reads an operator's settings as they were at one moment: a price is made of
// several of them.
func (d *DB) OperatorSettings(ctx context.Context, operatorID uuid.UUID) (*Settings, error) {
	var s Settings
	err := d.inSnapshot(ctx, func(tx *DB) error { return tx.readSettings(ctx, operatorID, &s) })
	if err != nil {
		return nil, fmt.Errorf("reading the operator's settings: %w", err)
	}
	return &s, nil
}

func (d *DB) readSettings(ctx context.Context, operatorID uuid.UUID, s *Settings) error {
	operator, err := d.Operator(ctx, operatorID)
	if err != nil {
		return err
	}
	s.Version, s.BasePrice = operator.SettingsVersion, operator.BasePrice
	for _, query := range []struct {
		into  any
		where string
	}{
		{&s.Branches, "operator_id = ?"},
		{&s.Stores, "operator_id = ?"},
		{&s.Sizes, "operator_id = ?"},
		{&s.Coverage, "operator_id = ?"},
		{&s.RiskZones, "operator_id = ? AND active"},
		{&s.Webhooks, "operator_id = ? AND active"},
		{&s.Riders, "operator_id = ? AND active AND NOT test"},
	} {
		if err := d.with(ctx).Where(query.where, operatorID).Order("created_at, id").Find(query.into).Error; err != nil {
			return err
		}
	}
	return nil
}

// ChangeSettings runs a change to an operator's settings and increments the settings version, which
// invalidates every process's cache. Every write to stores, branches, sizes, coverage, risk zones,
// webhooks and riders must go through it.
func (d *DB) ChangeSettings(ctx context.Context, operatorID uuid.UUID, change func(tx *DB) error) error {
	return d.InTx(ctx, func(tx *DB) error {
		// The update comes first because it locks the operator's row, which serializes changes:
		// counts made inside a change stay valid.
		err := requireOneRow(tx.with(ctx).Model(&models.Operator{}).Where("id = ?", operatorID).
			UpdateColumn("settings_version", gorm.Expr("settings_version + 1")))
		if err != nil {
			return err
		}
		return change(tx)
	})
}

// BumpSettings makes every process read an operator's settings again: a webhook's circuit, which is
// changed without ChangeSettings, was opened or closed.
func (d *DB) BumpSettings(ctx context.Context, operatorID uuid.UUID) error {
	return d.ChangeSettings(ctx, operatorID, func(*DB) error { return nil })
}

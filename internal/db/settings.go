package db

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// ChangeSettings runs a change to an operator's settings and increments the settings version, which
// invalidates every process's cache. Every write to stores, their prices, branches, sizes,
// coverage, risk zones, webhooks and riders must go through it.
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

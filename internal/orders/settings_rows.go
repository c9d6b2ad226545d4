package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/money"
	"despacho/models"
)

// settingsRows are the rows of an operator's settings that creating and moving orders needs.
type settingsRows struct {
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

// readSettings reads an operator's settings as they were at one moment: a price is made of several
// of them.
func readSettings(ctx context.Context, database *db.DB, operatorID uuid.UUID) (*settingsRows, error) {
	var rows settingsRows
	err := database.InSnapshot(ctx, func(tx *db.DB) error { return rows.read(ctx, tx, operatorID) })
	if err != nil {
		return nil, fmt.Errorf("reading the operator's settings: %w", err)
	}
	return &rows, nil
}

func (s *settingsRows) read(ctx context.Context, tx *db.DB, operatorID uuid.UUID) error {
	operator, err := tx.Operator(ctx, operatorID)
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
		if err := tx.Query(ctx).Where(query.where, operatorID).Order("created_at, id").Find(query.into).Error; err != nil {
			return err
		}
	}
	return nil
}

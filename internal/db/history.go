package db

import (
	"context"

	"github.com/google/uuid"
)

// OwnedSubjects returns those of the ids that are the operator's: orders, webhooks and webhook
// deliveries, which workflows are about.
func (d *DB) OwnedSubjects(ctx context.Context, operatorID uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	var rows []struct{ ID uuid.UUID }
	err := d.with(ctx).Raw(`
		SELECT id FROM orders WHERE operator_id = @operator AND id IN @ids
		UNION ALL
		SELECT id FROM webhooks WHERE operator_id = @operator AND id IN @ids
		UNION ALL
		SELECT id FROM deliveries WHERE operator_id = @operator AND id IN @ids`,
		map[string]any{"operator": operatorID, "ids": ids}).Scan(&rows).Error
	owned := make(map[uuid.UUID]bool, len(rows))
	for _, row := range rows {
		owned[row.ID] = true
	}
	return owned, err
}

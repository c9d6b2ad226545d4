package events

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/db"
)

// Changes tells when the orders that a scope sees may have changed: changed gets a value then, and
// stopped is closed when nobody may wait any more. Whatever is written to an order sets its time of
// update, also what is no event, such as a reception or a correction.
func (s *Service) Changes(scope db.OrderScope) (changed, stopped <-chan struct{}, unsubscribe func()) {
	changed, unsubscribe = s.changes.subscribe(sourceOf(scope))
	return changed, s.changes.stopped, unsubscribe
}

// orderHeads returns the time of the last update of an order of each source. It reads one entry of
// an index for each.
func orderHeads(ctx context.Context, database *db.DB, sources []source) (map[source]string, error) {
	heads := map[source]string{}
	err := eachTable(sources, func(table string, isStore bool, ids []uuid.UUID) error {
		var rows []struct {
			ID   uuid.UUID
			Head string
		}
		err := database.Query(ctx).Raw("SELECT id, COALESCE(CAST((SELECT MAX(updated_at) FROM orders WHERE "+table+
			"_id = sources.id) AS TEXT), '') AS head FROM "+table+"s AS sources WHERE id IN ?", ids).Scan(&rows).Error
		for _, row := range rows {
			heads[source{row.ID, isStore}] = row.Head
		}
		return err
	})
	return heads, err
}

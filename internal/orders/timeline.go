package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/models"
)

// readMoves reads the moves of an order's timeline, oldest first.
func readMoves(ctx context.Context, database *db.DB, orderID uuid.UUID) ([]models.TimelineEntry, error) {
	var moves []models.TimelineEntry
	err := database.Query(ctx).Where("order_id = ? AND seq IS NOT NULL", orderID).Order("seq").Find(&moves).Error
	return moves, err
}

var timelineColumns = db.Columns[models.TimelineEntry]("order_events")

// readTimeline reads all entries of an order's timeline, oldest first, with the names of those they
// are about.
func readTimeline(ctx context.Context, database *db.DB, orderID uuid.UUID) ([]models.TimelineView, error) {
	var entries []models.TimelineView
	err := database.Query(ctx).Table("order_events").
		Select(timelineColumns+", users.name AS user_name, api_keys.name AS key_name, riders.name AS rider_name").
		Joins("LEFT JOIN users ON users.id = order_events.user_id").
		Joins("LEFT JOIN api_keys ON api_keys.id = order_events.key_id").
		Joins("LEFT JOIN riders ON riders.id = order_events.rider_id").
		Where("order_events.order_id = ?", orderID).Order("order_events.at, order_events.seq, order_events.id").Find(&entries).Error
	sortMoves(entries)
	return entries, err
}

// sortMoves puts the moves among the entries in the sequence of their numbers, whatever their times
// say: a creation has the time of the API's clock, a move that of Temporal's.
func sortMoves(entries []models.TimelineView) {
	var places []int
	var moves []models.TimelineView
	for i, entry := range entries {
		if entry.Seq != nil {
			places, moves = append(places, i), append(moves, entry)
		}
	}
	slices.SortFunc(moves, func(a, b models.TimelineView) int { return *a.Seq - *b.Seq })
	for i, place := range places {
		entries[place] = moves[i]
	}
}

package db_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/db"
	"despacho/models"
	"despacho/test/testenv"
)

// saveNextMove writes the order's next Seq with its timeline entry.
func saveNextMove(t *testing.T, writes *db.DB, order *models.Order) error {
	before := *order
	order.Seq++
	seq := order.Seq
	return writes.SaveMove(t.Context(), &before, order, &models.TimelineEntry{
		ID: uuid.New(), OrderID: order.ID, Seq: &seq, Type: models.TimelineCreated, Status: order.Status, By: "operator", At: order.CreatedAt,
	})
}

// Concurrent moves of an order are written one after the other; one that fails writes nothing.
func TestInMove(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		w := newTenant(t, database)
		move := func(id uuid.UUID, result error) error {
			return database.InMove(t.Context(), id, nil, nil, func(_, writes *db.DB, order *models.Order, _ *db.MoveContext) error {
				return errors.Join(saveNextMove(t, writes, order), result)
			})
		}
		var moves errgroup.Group
		for range 8 {
			moves.Go(func() error { return move(w.order.ID, nil) })
		}
		require.NoError(t, moves.Wait())

		failed := errors.New("no")
		require.ErrorIs(t, move(w.order.ID, failed), failed)
		require.True(t, db.IsNotFound(move(uuid.New(), nil)))
		entry := uuid.New()
		require.NoError(t, database.AddTimelineEntry(t.Context(), &models.TimelineEntry{
			ID: entry, OrderID: w.order.ID, Type: models.TimelineCreated, Status: w.order.Status, By: "api", At: w.order.CreatedAt,
		}))
		require.True(t, db.IsDuplicate(database.InMove(t.Context(), w.order.ID, nil, nil, func(_, writes *db.DB, order *models.Order, _ *db.MoveContext) error {
			before := *order
			order.Seq++
			return writes.SaveMove(t.Context(), &before, order, &models.TimelineEntry{
				ID: entry, OrderID: order.ID, Type: models.TimelineCreated, Status: order.Status, By: "api", At: order.CreatedAt,
			})
		})), "the error is the database's")

		stored, err := database.OrderViewByID(t.Context(), w.order.ID)
		require.NoError(t, err)
		require.Equal(t, w.order.Seq+8, stored.Seq)
	})
}

// Writing a move without webhooks takes two round trips to PostgreSQL.
func TestInMove_twoRoundTrips(t *testing.T) {
	t.Parallel()
	proxied, roundTrips := countingProxy(t, testenv.Postgres(t))
	database := open(t, proxied)
	order, entry := newOrder(fixture(t, database))
	require.NoError(t, database.InsertOrder(t.Context(), order, entry, newEvent(entry, order.OperatorID), nil))
	move := func() {
		require.NoError(t, database.InMove(t.Context(), order.ID, nil, nil, func(_, writes *db.DB, order *models.Order, _ *db.MoveContext) error {
			return saveNextMove(t, writes, order)
		}))
	}
	move() // the statements are prepared once for each connection
	before := roundTrips.Load()
	for range 5 {
		move()
	}
	require.EqualValues(t, 10, roundTrips.Load()-before)
}

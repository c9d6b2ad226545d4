package db_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/internal/catalog"
	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/fields"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// newOrder is a copy of an order that can be inserted, with its first timeline entry.
func newOrder(of *models.Order) (*models.Order, *models.TimelineEntry) {
	order, seq := *of, 1
	order.ID, order.GuideCode = uuid.New(), uuid.NewString()
	return &order, &models.TimelineEntry{
		ID: uuid.New(), OrderID: order.ID, Seq: &seq, Type: models.TimelineCreated, Status: order.Status, By: "api", At: order.CreatedAt,
	}
}

// newEvent is the event of an order's first timeline entry, with every field set.
func newEvent(entry *models.TimelineEntry, operatorID uuid.UUID) *models.FeedEvent {
	event := &models.FeedEvent{}
	(&fields.Filler{Bool: true}).Fill(event)
	event.ID, event.OperatorID, event.OrderID, event.Position = entry.ID, operatorID, entry.OrderID, nil
	return event
}

func insertRows(t *testing.T, tx *db.DB, rows ...any) error {
	var errs []error
	for _, row := range rows {
		errs = append(errs, tx.Insert(t.Context(), row))
	}
	return errors.Join(errs...)
}

// requireSameRow compares rows as JSON, which has no part of a time but the time.
func requireSameRow(t *testing.T, expected, actual any) {
	t.Helper()
	encode := func(row any) string {
		encoded, err := json.Marshal(row)
		require.NoError(t, err)
		return string(encoded)
	}
	require.JSONEq(t, encode(expected), encode(actual))
}

// What is written in a pipeline is there as if it was written in a transaction: every column, and
// all rows or none.
func TestInPipeline(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		order, entry := newOrder(&w.Order) // every field has a value
		event, delivery := newEvent(entry, order.OperatorID), w.Pending
		delivery.ID, delivery.OrderID = uuid.New(), &order.ID
		insert := func(tx *db.DB) error {
			return insertRows(t, tx, order, entry, event, &delivery)
		}
		exists := func() bool {
			found, err := database.OrderViewByID(t.Context(), order.ID)
			if !db.IsNotFound(err) {
				require.NoError(t, err)
				requireSameRow(t, order, &found.Order)
			}
			return err == nil
		}

		failed := errors.New("no")
		require.ErrorIs(t, database.InPipeline(t.Context(), func(tx *db.DB) error { return errors.Join(insert(tx), failed) }), failed)
		require.False(t, exists(), "nothing is sent after an error")

		right := entry.OrderID
		entry.OrderID = uuid.New()
		require.Error(t, database.InPipeline(t.Context(), insert), "the entry's order does not exist")
		require.False(t, exists(), "all or nothing")

		entry.OrderID = right
		require.NoError(t, database.InPipeline(t.Context(), insert))
		require.True(t, exists())
		requireSameRow(t, &delivery, dbtest.Row[models.WebhookDelivery](t, database, "id = ?", delivery.ID))
		requireSameRow(t, event, dbtest.Row[models.FeedEvent](t, database, "id = ?", event.ID))
		require.True(t, db.IsDuplicate(database.InPipeline(t.Context(), insert)), "the error is the database's")
	})
}

// Creating an order takes one round trip to PostgreSQL.
func TestInPipeline_oneRoundTrip(t *testing.T) {
	t.Parallel()
	proxied, roundTrips := countingProxy(t, testenv.Postgres(t))
	database := dbtest.Open(t, proxied)
	first := dbtest.NewOrder(t, database)
	create := func() {
		order, entry := newOrder(first)
		require.NoError(t, database.InPipeline(t.Context(), func(tx *db.DB) error {
			return insertRows(t, tx, order, entry, newEvent(entry, order.OperatorID))
		}))
	}
	create() // the statements are prepared once for each connection
	before := roundTrips.Load()
	for range 5 {
		create()
	}
	require.EqualValues(t, 5, roundTrips.Load()-before)
}

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
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		move := func(id uuid.UUID, result error) error {
			return database.InMove(t.Context(), id, uuid.Nil, nil, nil, func(_, writes *db.DB, order *models.Order, _ *db.MoveContext) error {
				return errors.Join(saveNextMove(t, writes, order), result)
			})
		}
		var moves errgroup.Group
		for range 8 {
			moves.Go(func() error { return move(w.Order.ID, nil) })
		}
		require.NoError(t, moves.Wait())

		failed := errors.New("no")
		require.ErrorIs(t, move(w.Order.ID, failed), failed)
		require.True(t, db.IsNotFound(move(uuid.New(), nil)))
		entry := uuid.New()
		require.NoError(t, database.Insert(t.Context(), &models.TimelineEntry{
			ID: entry, OrderID: w.Order.ID, Type: models.TimelineCreated, Status: w.Order.Status, By: "api", At: w.Order.CreatedAt,
		}))
		require.True(t, db.IsDuplicate(database.InMove(t.Context(), w.Order.ID, uuid.Nil, nil, nil, func(_, writes *db.DB, order *models.Order, _ *db.MoveContext) error {
			before := *order
			order.Seq++
			return writes.SaveMove(t.Context(), &before, order, &models.TimelineEntry{
				ID: entry, OrderID: order.ID, Type: models.TimelineCreated, Status: order.Status, By: "api", At: order.CreatedAt,
			})
		})), "the error is the database's")

		stored, err := database.OrderViewByID(t.Context(), w.Order.ID)
		require.NoError(t, err)
		require.Equal(t, w.Order.Seq+8, stored.Seq)
	})
}

// A move of an order that is not at the number before is not written, and nothing else of it is.
func TestSaveMove_ofAnotherNumber(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		err := database.InMove(t.Context(), w.Order.ID, uuid.Nil, nil, nil, func(_, writes *db.DB, order *models.Order, _ *db.MoveContext) error {
			order.Seq++
			return saveNextMove(t, writes, order)
		})
		require.True(t, db.IsNotFound(err), "%v", err)
		stored, err := database.OrderViewByID(t.Context(), w.Order.ID)
		require.NoError(t, err)
		require.Equal(t, w.Order.Seq, stored.Seq)
	})
}

// Writing a move without webhooks takes two round trips to PostgreSQL.
func TestInMove_twoRoundTrips(t *testing.T) {
	t.Parallel()
	proxied, roundTrips := countingProxy(t, testenv.Postgres(t))
	database := dbtest.Open(t, proxied)
	order, entry := newOrder(dbtest.NewOrder(t, database))
	require.NoError(t, insertRows(t, database, order, entry))
	move := func() {
		require.NoError(t, database.InMove(t.Context(), order.ID, uuid.Nil, nil, nil, func(_, writes *db.DB, order *models.Order, _ *db.MoveContext) error {
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

// A move that waits for a correction of its order goes by what the correction has written, also by
// the location and the rider that the order refers to since.
func TestInMove_afterACorrectionThatItWaitedFor(t *testing.T) {
	t.Parallel()
	database := dbtest.Open(t, testenv.Postgres(t))
	w := dbtest.NewTenant(t, database)
	rider := w.Rider
	rider.ID, rider.Name, rider.Phone = uuid.New(), "Otro", "+51911222333"
	require.NoError(t, database.Insert(t.Context(), &rider))
	correction, err := database.SQL().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer correction.Rollback()
	var pid int
	require.NoError(t, correction.QueryRowContext(t.Context(), "SELECT pg_backend_pid() FROM orders WHERE id = $1 FOR UPDATE", w.Order.ID).Scan(&pid))
	found := make(chan db.MoveContext, 1)
	var move errgroup.Group
	move.Go(func() error {
		return database.InMove(t.Context(), w.Order.ID, uuid.Nil, nil, nil, func(_, writes *db.DB, order *models.Order, moveContext *db.MoveContext) error {
			found <- *moveContext
			return saveNextMove(t, writes, order)
		})
	})
	poll.Until(t, func() error {
		var waiting int
		err := database.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))", pid).Scan(&waiting)
		if err == nil && waiting == 0 {
			err = errors.New("the move does not wait for the correction")
		}
		return err
	})
	_, err = correction.ExecContext(t.Context(), "UPDATE orders SET location_id = $1, rider_id = $2 WHERE id = $3", catalog.DistrictID("PE", "150131"), rider.ID, w.Order.ID)
	require.NoError(t, err)
	require.NoError(t, correction.Commit())
	require.NoError(t, move.Wait())
	moveContext := <-found
	require.Equal(t, "San Isidro", moveContext.LocationName)
	require.Equal(t, []string{rider.Name, rider.Phone}, []string{*moveContext.RiderName, *moveContext.RiderPhone})
	require.NotNil(t, moveContext.RiderActive)
}

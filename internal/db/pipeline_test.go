package db_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/fields"
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

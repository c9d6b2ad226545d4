package db_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
)

// Whatever takes a scope reads and changes nothing outside of it: not another operator's, and
// neither live rows in test mode nor the other way round. The methods are found by reflection, so
// that a new one is held to it too.
func TestScope_everyMethodThatTakesOne(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		w := newTenant(t, database)
		delivered := w.order
		delivered.ID, delivered.GuideCode, delivered.Status, delivered.CancelledBy = uuid.New(), "another", models.StatusDelivered, nil
		delivered.RecipientPhone, delivered.ErasedAt = w.order.GuideCode, nil // so that any text finds an order
		require.NoError(t, database.Insert(context.Background(), &delivered))
		for i := range 11 { // one more than the position that methods are given
			event := models.FeedEvent{
				ID: uuid.New(), OperatorID: w.operator.ID, Test: w.order.Test, OrderID: w.order.ID, Event: models.EventAssigned, Data: "{}", CreatedAt: w.order.CreatedAt,
			}
			if i == 0 {
				event.ID = w.order.ID
			}
			require.NoError(t, database.InsertFeedEvent(t.Context(), &event))
		}
		entry := models.TimelineEntry{ID: uuid.New(), OrderID: w.order.ID, Status: w.order.Status, At: w.order.CreatedAt}
		require.NoError(t, database.Insert(t.Context(), &entry))
		require.NoError(t, database.Insert(t.Context(), &models.Correction{
			ID: uuid.New(), OrderID: w.order.ID, EntryID: entry.ID, Field: models.CorrectedPhone, OldValue: &w.order.GuideCode,
		}))
		_, err := database.PublishFeed(t.Context(), 100)
		require.NoError(t, err)
		own := db.OrderScope{OperatorID: w.operator.ID, Test: w.order.Test}
		otherMode := db.OrderScope{OperatorID: w.operator.ID, Test: !w.order.Test}
		another := db.OrderScope{OperatorID: uuid.New(), Test: w.order.Test}
		methods, tried := reflect.TypeFor[*db.DB](), 0
		for i := range methods.NumMethod() {
			method := methods.Method(i)
			if method.Type.NumIn() < 3 || method.Type.In(2) != reflect.TypeFor[db.OrderScope]() {
				continue
			}
			tried++
			require.False(t, finds(t, database, w, method, otherMode), "%s finds what is of the other mode", method.Name)
			require.False(t, finds(t, database, w, method, another), "%s finds what is another operator's", method.Name)
			require.True(t, finds(t, database, w, method, own), "%s finds nothing in its own scope either: this test cannot tell", method.Name)
		}
		require.Greater(t, tried, 15)
	})
}

// finds calls a method with arguments that name all there is, and reports whether it read or
// changed anything.
func finds(t *testing.T, database *db.DB, w *tenant, method reflect.Method, scope db.OrderScope) bool {
	t.Helper()
	for _, id := range []uuid.UUID{w.order.ID, w.webhook.ID, w.failed.ID} {
		arguments := []reflect.Value{reflect.ValueOf(database), reflect.ValueOf(context.Background()), reflect.ValueOf(scope)}
		for i := 3; i < method.Type.NumIn(); i++ {
			arguments = append(arguments, argument(t, method, method.Type.In(i), w, id))
		}
		results := method.Func.Call(arguments)
		err, _ := results[len(results)-1].Interface().(error)
		if db.IsNotFound(err) {
			continue
		}
		require.NoError(t, err, method.Name)
		if len(results) == 1 {
			return true // it changes something, and found it
		}
		for _, result := range results[:len(results)-1] {
			switch result.Kind() {
			case reflect.Slice, reflect.Map:
				if result.Len() > 0 {
					return true
				}
			default:
				if !result.IsZero() {
					return true
				}
			}
		}
	}
	return false
}

func argument(t *testing.T, method reflect.Method, kind reflect.Type, w *tenant, id uuid.UUID) reflect.Value {
	t.Helper()
	before, after := w.operator.CreatedAt.AddDate(-1, 0, 0), w.operator.CreatedAt.AddDate(1, 0, 0)
	for _, value := range []any{
		id, []uuid.UUID{w.order.ID, w.webhook.ID, w.failed.ID}, w.order.GuideCode, before, time.UTC, 10, int64(10), w.order.Status,
		db.OrderFilter{From: &before, Until: &after, Page: 1, Limit: 10}, db.DeliveryFilter{Page: 1, Limit: 10}, db.Position{},
		[]models.WebhookDelivery{w.pending, w.failed},
	} {
		if reflect.TypeOf(value) == kind {
			return reflect.ValueOf(value)
		}
	}
	t.Fatalf("%s takes a %s: this test does not know one", method.Name, kind)
	return reflect.Value{}
}

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
	"despacho/test/dbtest"
)

// Whatever takes a scope reads and changes nothing outside of it: not another operator's, and
// neither live rows in test mode nor the other way round. The methods are found by reflection, so
// that a new one is held to it too.
func TestScope_everyMethodThatTakesOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		own := db.OrderScope{OperatorID: w.Operator.ID, Test: w.Order.Test}
		otherMode := db.OrderScope{OperatorID: w.Operator.ID, Test: !w.Order.Test}
		another := db.OrderScope{OperatorID: uuid.New(), Test: w.Order.Test}
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
		require.NotZero(t, tried)
	})
}

// finds calls a method with arguments that name all there is, and reports whether it read or
// changed anything.
func finds(t *testing.T, database *db.DB, w *dbtest.Tenant, method reflect.Method, scope db.OrderScope) bool {
	t.Helper()
	for _, id := range []uuid.UUID{w.Order.ID, w.Webhook.ID, w.Failed.ID} {
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

func argument(t *testing.T, method reflect.Method, kind reflect.Type, w *dbtest.Tenant, id uuid.UUID) reflect.Value {
	t.Helper()
	before := w.Operator.CreatedAt.AddDate(-1, 0, 0)
	for _, value := range []any{
		id, []uuid.UUID{w.Order.ID, w.Webhook.ID, w.Failed.ID}, w.Order.GuideCode, before, time.UTC, 10, int64(10), w.Order.Status,
		db.Position{},
		[]models.WebhookDelivery{w.Pending, w.Failed},
	} {
		if reflect.TypeOf(value) == kind {
			return reflect.ValueOf(value)
		}
	}
	t.Fatalf("%s takes a %s: this test does not know one", method.Name, kind)
	return reflect.Value{}
}

package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/test/apptest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// (none) → registered → cancelled: a store or the operator cancels while the order is registered,
// and only then.
func TestContract_3_cancelWhileRegistered(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, c := range []struct {
			name, key, by string
			body          map[string]any
			reason, note  any
		}{
			{"bound key", tenant.KeyA, "store", map[string]any{"reason": "El cliente desistió", "note": "Llamó a las 10\ny otra vez a las 11"}, "El cliente desistió", "Llamó a las 10\ny otra vez a las 11"},
			{"unbound key", tenant.Key, "operator", map[string]any{"reason": strings.Repeat("ñ", 255), "note": strings.Repeat("ñ", 1000)}, strings.Repeat("ñ", 255), strings.Repeat("ñ", 1000)},
			{"empty object", tenant.KeyA, "store", map[string]any{}, nil, nil},
			{"no body", tenant.KeyA, "store", nil, nil, nil},
			{"nulls and unknown members", tenant.KeyA, "store", map[string]any{"reason": nil, "note": nil, "by": "auto"}, nil, nil},
		} {
			id := s.CreateOrder(t, c.key)
			var body any
			if c.body != nil {
				body = c.body
			}
			order := cancelOrder(t, s, c.key, id, body)
			require.Equal(t, http.StatusOK, order.Status, "%s: %s", c.name, order.Text)
			require.Equal(t, "cancelled", order.String("status"), c.name)
			require.Equal(t, "Cancelado", order.String("status_label"), c.name)
			require.Equal(t, map[string]any{"by": c.by, "reason": c.reason, "note": c.note}, order.Data["cancellation"], c.name)
			require.NotNil(t, order.Data["cancelled_at"], c.name)
			require.Equal(t, order.Data, get(t, s, c.key, "/v1/orders/"+id).Data, "what is read next is what was just done")
		}
	})
}

// Cancelling an order that is not in registered returns 400, whatever its state and whoever's the
// key.
func TestContract_3_cancelTooLate(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		id := s.CreateOrder(t, tenant.KeyA)
		tooLate := func(status string) {
			for _, key := range []string{tenant.KeyA, tenant.Key} {
				requireRefused(t, cancelOrder(t, s, key, id, map[string]any{"reason": "tarde"}), http.StatusBadRequest, "move_not_allowed")
			}
			require.Equal(t, status, get(t, s, tenant.Key, "/v1/orders/"+id).String("status"))
		}
		panelMove(t, s, operator, id, "receive", nil, 200)
		tooLate("received")
		panelMove(t, s, operator, id, "assign", map[string]any{"rider_id": tenant.Riders[0].ID}, 200)
		tooLate("assigned")
		panelMove(t, s, operator, id, "deliver", nil, 200)
		tooLate("delivered")

		id = s.CreateOrder(t, tenant.KeyA)
		require.Equal(t, http.StatusOK, cancelOrder(t, s, tenant.KeyA, id, nil).Status)
		tooLate("cancelled")
		require.Equal(t, "store", get(t, s, tenant.Key, "/v1/orders/"+id).Data["cancellation"].(map[string]any)["by"], "the first cancel stands")
	})
}

// A cancel with a wrong body, or of an order that is not there, changes nothing.
func TestContract_3_cancelRefused(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		id := s.CreateOrder(t, tenant.KeyA)
		requireWrongFields(t, cancelOrder(t, s, tenant.KeyA, id, map[string]any{"reason": strings.Repeat("ñ", 256), "note": strings.Repeat("ñ", 1001)}), "reason", "note")
		requireWrongFields(t, cancelOrder(t, s, tenant.KeyA, id, map[string]any{"reason": 5, "note": []string{}}), "reason", "note")
		requireWrongFields(t, cancelOrder(t, s, tenant.KeyA, id, map[string]any{"reason": "a\x00b"}), "reason")
		requireRefused(t, cancelOrder(t, s, tenant.KeyA, id, []string{}), http.StatusBadRequest, "not_an_object")
		for _, c := range []struct{ key, id string }{
			{tenant.KeyB, id}, {stranger.Key, id}, {stranger.KeyA, id}, {tenant.Key, uuid.NewString()}, {tenant.Key, "no-es-un-id"},
		} {
			requireRefused(t, cancelOrder(t, s, c.key, c.id, nil), http.StatusNotFound, "order_not_found")
		}
		require.Equal(t, "registered", get(t, s, tenant.KeyA, "/v1/orders/"+id).String("status"))
	})
}

// Still registered after the waiting time: cancelled automatically, which the API cannot undo or
// repeat; a package that arrives late revives the order with the same id and guide code.
func TestContract_3_autoCancelAndRevival(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{Configure: func(c *config.Config) { c.AutoCancelAfter = time.Second }})
		tenant := s.NewTenant(t)
		operator := tenant.SignIn(t, nil)
		order := created(t, s, tenant.KeyA)
		path := "/v1/orders/" + order.String("id")
		poll.Until(t, func() error {
			if get(t, s, tenant.KeyA, path).String("status") != "cancelled" {
				return errors.New("not cancelled yet")
			}
			return nil
		})
		cancelled := get(t, s, tenant.KeyA, path)
		require.Equal(t, map[string]any{"by": "auto", "reason": nil, "note": nil}, cancelled.Data["cancellation"])
		requireRefused(t, cancelOrder(t, s, tenant.KeyA, order.String("id"), nil), http.StatusBadRequest, "move_not_allowed")
		requireRefused(t, cancelOrder(t, s, tenant.Key, order.String("id"), nil), http.StatusBadRequest, "move_not_allowed")

		panelMove(t, s, operator, order.String("id"), "receive", nil, 200)
		revived := get(t, s, tenant.KeyA, path)
		require.Equal(t, "received", revived.String("status"))
		require.Equal(t, order.String("guide_code"), revived.String("guide_code"))
		require.Nil(t, revived.Data["cancellation"])
		require.Nil(t, revived.Data["cancelled_at"])
		requireRefused(t, cancelOrder(t, s, tenant.Key, order.String("id"), nil), http.StatusBadRequest, "move_not_allowed")
	})
}

package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// With a store-bound key everything is restricted to that store; an order of another store answers
// 404, not 403 (sections 4.1 and 5.6).
func TestContract_5_6_ordersOfOneStore(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		own, other, storeless := s.CreateOrder(t, tenant.KeyA), s.CreateOrder(t, tenant.KeyB), s.CreateOrder(t, tenant.Key)
		byOperator := s.CreateOrder(t, tenant.Key, map[string]any{"store_id": tenant.StoreA.ID})

		ids, page := listOrders(t, s, tenant.KeyA, "")
		require.Equal(t, []any{byOperator, own}, ids)
		require.EqualValues(t, 2, page["total"])
		ids, _ = listOrders(t, s, tenant.KeyA, "?store_id="+tenant.StoreB.ID.String())
		require.Equal(t, []any{byOperator, own}, ids, "nothing in the request widens what the key sees")
		ids, page = listOrders(t, s, tenant.Key, "")
		require.Equal(t, []any{byOperator, storeless, other, own}, ids, "a key without a store sees the whole operator")
		require.EqualValues(t, 4, page["total"])

		for _, hidden := range []string{other, storeless} {
			requireRefused(t, get(t, s, tenant.KeyA, "/v1/orders/"+hidden), http.StatusNotFound, "order_not_found")
			requireRefused(t, cancelOrder(t, s, tenant.KeyA, hidden, nil), http.StatusNotFound, "order_not_found")
			require.Equal(t, "registered", get(t, s, tenant.Key, "/v1/orders/"+hidden).String("status"))
		}
		require.Equal(t, http.StatusOK, get(t, s, tenant.KeyA, "/v1/orders/"+byOperator).Status)
	})
}

// POST /orders creates the order for the key's store, whatever store_id holds.
func TestContract_5_6_storeIDIgnored(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		for _, sent := range []any{
			nil, tenant.StoreA.ID, tenant.StoreB.ID, stranger.StoreA.ID, uuid.New(), "", "no es un uuid", 5, true, []any{1}, map[string]any{"id": nil}, "a\x00b",
		} {
			order := created(t, s, tenant.KeyA, map[string]any{"store_id": sent})
			require.Equal(t, tenant.StoreA.ID.String(), order.String("store_id"), "%v", sent)
		}
	})
}

// GET /stores: the operator's active stores; a bound key sees its own (section 4.3).
func TestContract_4_3_stores(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		closed := tenant.StoreA
		closed.ID, closed.Name, closed.Active = uuid.New(), "Tienda cerrada", false
		tenant.Change(t, &closed)
		a := map[string]any{"id": tenant.StoreA.ID.String(), "name": "Tienda A", "active": true}
		b := map[string]any{"id": tenant.StoreB.ID.String(), "name": "Tienda B", "active": true}
		require.Equal(t, []map[string]any{a, b}, listed(t, get(t, s, tenant.Key, "/v1/stores")))
		require.Equal(t, []map[string]any{a}, listed(t, get(t, s, tenant.KeyA, "/v1/stores")))
		require.Equal(t, []map[string]any{b}, listed(t, get(t, s, tenant.KeyB, "/v1/stores")))
	})
}

// Webhooks registered with a bound key are its store's; it sees and ends no others.
func TestContract_5_6_webhooksOfOneStore(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		of := func(key string, more map[string]any) *apptest.Answer {
			body := map[string]any{"url": "https://tienda.example/hook", "events": []string{"order.created"}}
			for name, value := range more {
				body[name] = value
			}
			answer := registerWebhook(t, s, key, body)
			require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
			return answer
		}
		operators := of(tenant.Key, nil)
		narrowed := of(tenant.Key, map[string]any{"store_id": tenant.StoreB.ID})
		stores := of(tenant.KeyA, map[string]any{"store_id": tenant.StoreB.ID})
		whatever := of(tenant.KeyA, map[string]any{"store_id": []any{"no es un uuid"}})
		require.Nil(t, operators.Data["store_id"])
		require.Equal(t, tenant.StoreB.ID.String(), narrowed.String("store_id"))
		require.Equal(t, tenant.StoreA.ID.String(), stores.String("store_id"), "the key's own store, whatever was sent")
		require.Equal(t, tenant.StoreA.ID.String(), whatever.String("store_id"))

		ids := func(key string) []any { return column(listed(t, get(t, s, key, "/v1/webhooks")), "id") }
		require.ElementsMatch(t, []any{stores.Data["id"], whatever.Data["id"]}, ids(tenant.KeyA))
		require.Empty(t, ids(tenant.KeyB), "the operator's, narrowed to the store, is still the operator's")
		require.ElementsMatch(t, []any{operators.Data["id"], narrowed.Data["id"], stores.Data["id"], whatever.Data["id"]}, ids(tenant.Key))
		require.Empty(t, ids(stranger.Key))

		for _, c := range []struct{ key, id string }{
			{tenant.KeyA, operators.String("id")}, {tenant.KeyA, narrowed.String("id")}, {tenant.KeyB, narrowed.String("id")}, {tenant.KeyB, stores.String("id")}, {stranger.Key, stores.String("id")},
		} {
			requireRefused(t, deactivateWebhook(t, s, c.key, c.id), http.StatusNotFound, "webhook_not_found")
		}
		require.Len(t, ids(tenant.Key), 4)
	})
}

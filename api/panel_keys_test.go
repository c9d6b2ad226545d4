package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/test/apptest"
	"despacho/test/poll"
)

// A key of test mode is made like the others, says so, and creates test orders.
func TestPanelKeys_testKey(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator := desk{t, s, s.NewTenant(t).SignIn(t, nil)}
		created := operator.post("/keys", fields{"name": "Prueba", "scopes": []string{"write:orders"}, "test": true})
		require.Equal(t, 201, created.Status, created.Text)
		require.Regexp(t, `^dsp_test_[0-9A-Za-z]{32}$`, created.String("key"))
		require.Equal(t, true, created.Data["test"])
		order := s.Do(t, apptest.Request{Method: "POST", Path: "/v1/orders", Key: created.String("key"), Body: apptest.Order()})
		require.Equal(t, true, order.Data["test"], order.Text)
		require.Equal(t, []string{"test"}, operator.post("/keys", fields{"name": "A", "scopes": []string{"write:orders"}, "test": "sí"}).Fields)
	})
}

func TestPanelKeys_shownOnceThenRevokedAtOnce(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		expiry := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
		answer := operator.post("/keys", fields{
			"name": " Tienda en línea ", "scopes": []string{"read:orders", "read:stores", "read:orders"},
			"store_id": tenant.StoreA.ID, "expires_at": expiry.In(time.FixedZone("", -5*3600)),
		})
		require.Equal(t, http.StatusCreated, answer.Status, answer.Text)
		require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
		key, id := answer.String("key"), answer.String("id")
		require.Regexp(t, `^dsp_live_[0-9A-Za-z]{32}$`, key)
		require.Equal(t, map[string]any{
			"id": id, "name": "Tienda en línea", "key": key, "prefix": "dsp_live_", "last4": key[len(key)-4:],
			"scopes": []any{"read:orders", "read:stores"}, "store_id": tenant.StoreA.ID.String(), "expires_at": expiry.Format(time.RFC3339),
		}, answer.Data)

		require.Equal(t, http.StatusOK, get(t, s, key, "/v1/orders").Status)
		require.Len(t, listed(t, get(t, s, key, "/v1/stores")), 1, "bound to its store")
		require.Equal(t, http.StatusForbidden, postOrder(t, s, key).Status, "without write:orders")

		first := operator.list("/keys")[0]
		require.Equal(t, id, first["id"], "the newest first")
		require.NotContains(t, first, "key")
		require.NotNil(t, first["created_at"])
		require.Nil(t, first["revoked_at"])

		require.NotEmpty(t, operator.delete("/keys/"+id).Message)
		require.Equal(t, http.StatusUnauthorized, get(t, s, key, "/v1/orders").Status)
		require.NotNil(t, operator.find("/keys", id)["revoked_at"], "a revoked key stays in sight")
		requireRefused(t, operator.delete("/keys/"+id), http.StatusNotFound, "key_not_found")
	})
}

func TestPanelKeys_withoutStoreAndExpiry(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, _ := operatorDesk(t, s)
		answer := operator.post("/keys", fields{"name": "Todo", "scopes": []string{"write:orders", "read:orders"}, "store_id": nil})
		require.Nil(t, answer.Data["store_id"])
		require.Nil(t, answer.Data["expires_at"])
		created(t, s, answer.String("key"))
	})
}

func TestPanelKeys_refuses(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, other := operatorDesk(t, s)
		closed := operator.make("/stores", fields{"name": "Cerrada", "active": false})
		before := operator.list("/keys")
		scopes := []string{"read:orders"}
		for name, c := range map[string]struct {
			body  fields
			wrong []string
		}{
			"nothing":              {fields{}, []string{"name", "scopes"}},
			"blank name":           {fields{"name": " ", "scopes": scopes}, []string{"name"}},
			"no scope":             {fields{"name": "A", "scopes": []string{}}, []string{"scopes"}},
			"unknown scope":        {fields{"name": "A", "scopes": []string{"read:orders", "root"}}, []string{"scopes"}},
			"a scope as text":      {fields{"name": "A", "scopes": "read:orders"}, []string{"scopes"}},
			"another's store":      {fields{"name": "A", "scopes": scopes, "store_id": other.StoreA.ID}, []string{"store_id"}},
			"a closed store":       {fields{"name": "A", "scopes": scopes, "store_id": closed}, []string{"store_id"}},
			"an unknown store":     {fields{"name": "A", "scopes": scopes, "store_id": uuid.New()}, []string{"store_id"}},
			"expired already":      {fields{"name": "A", "scopes": scopes, "expires_at": time.Now().Add(-time.Second)}, []string{"expires_at"}},
			"in the year 10000":    {fields{"name": "A", "scopes": scopes, "expires_at": "9999-12-31T23:59:59-12:00"}, []string{"expires_at"}},
			"after 2100":           {fields{"name": "A", "scopes": scopes, "expires_at": "2101-01-01T00:00:00Z"}, []string{"expires_at"}},
			"no date":              {fields{"name": "A", "scopes": scopes, "expires_at": "mañana"}, []string{"expires_at"}},
			"everything is wrong":  {fields{"name": 1, "scopes": 1, "store_id": 1, "expires_at": 1}, []string{"name", "scopes", "store_id", "expires_at"}},
			"a name without bound": {fields{"name": string(make([]byte, 300)), "scopes": scopes}, []string{"name"}},
		} {
			t.Run(name, func(t *testing.T) { requireWrongFields(t, operator.post("/keys", c.body), c.wrong...) })
		}
		require.Equal(t, before, operator.list("/keys"))

		foreign := stranger.make("/keys", fields{"name": "Ajena", "scopes": scopes})
		operator.requireUnknown(http.MethodDelete, "/keys", foreign, "key_not_found")
		require.Nil(t, stranger.find("/keys", foreign)["revoked_at"])
		require.Equal(t, http.StatusOK, get(t, s, tenant.Key, "/v1/stores").Status)
	})
}

// A key shows when and from where it was last used.
func TestPanelKeys_lastUse(t *testing.T) {
	eachWithManualClock(t, func(t *testing.T, s *apptest.Service, clk *clock.Manual) {
		operator, _ := operatorDesk(t, s)
		made := operator.post("/keys", fields{"name": "Tienda en línea", "scopes": []string{"read:orders"}})
		shown := operator.find("/keys", made.String("id"))
		require.Equal(t, []any{nil, nil}, []any{shown["last_used_at"], shown["last_used_from"]})
		for range 2 {
			require.Equal(t, http.StatusOK, get(t, s, made.String("key"), "/v1/orders").Status)
			poll.Until(t, func() error {
				shown := operator.find("/keys", made.String("id"))
				if shown["last_used_at"] != clk.Now().Format(time.RFC3339) || shown["last_used_from"] != "127.0.0.1" {
					return fmt.Errorf("last used: %v from %v", shown["last_used_at"], shown["last_used_from"])
				}
				return nil
			})
			clk.Advance(time.Minute)
		}
	})
}

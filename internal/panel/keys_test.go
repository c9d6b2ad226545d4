package panel_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// tryKey is what the API answers to a key.
func tryKey(t *testing.T, s *apptest.Service, key, path string) *apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: key})
}

func TestKeys_shownOnceAndRevoked(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)

		sent := v.post("/panel/claves", url.Values{"name": {"Tienda en línea " + hostile}, "scopes": {"read:orders", "read:stores"}})
		require.Equal(t, []any{http.StatusSeeOther, "/panel/claves"}, []any{sent.Status, sent.Location})
		created := v.read(sent.Location)
		require.Equal(t, "no-store", created.Header.Get("Cache-Control"))
		key := created.textOf(t, "new-key")
		require.NotContains(t, sent.Text+strings.Join(sent.Header["Set-Cookie"], ""), key, "the notice that it rides in is encrypted")
		require.True(t, strings.HasPrefix(key, "dsp_live_"), key)
		require.Contains(t, created.words(), "no se volverá a mostrar")
		require.Contains(t, created.textOf(t, "try-key"), "curl -H 'X-API-Key: "+key+"' '"+s.BaseURL+"/v1/orders?limit=1'")
		require.Contains(t, created.Text, `data-copy="new-key"`)
		require.NotContains(t, created.Text, "<script>alert")

		listed := v.read("/panel/claves")
		require.NotContains(t, listed.Text, key)
		require.NotContains(t, listed.Text, "<script>alert")
		for _, shown := range []string{"dsp_live_…" + key[len(key)-4:], "Leer pedidos read:orders", "Leer tiendas read:stores", "Todo el operador", "no vence", "Activa"} {
			require.Contains(t, listed.words(), shown)
		}

		require.Equal(t, http.StatusOK, tryKey(t, s, key, "/v1/orders").Status)
		revoke := listed.actions(t)[2] // the newest comes first, after the forms that search and sign out
		require.Equal(t, http.StatusNotFound, visit(t, s, s.NewTenant(t), nil).post(revoke, nil).Status, "another operator's")
		require.Contains(t, v.submit(revoke, nil).words(), "La clave quedó revocada")
		require.Equal(t, http.StatusUnauthorized, tryKey(t, s, key, "/v1/orders").Status)
		require.Contains(t, v.read("/panel/claves").words(), "Revocada")
		require.Equal(t, http.StatusNotFound, v.post(revoke, nil).Status, "once")
	})
}

func TestKeys_withStoreAndExpiry(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)

		ends := time.Now().Add(48 * time.Hour).In(tenant.Operator.TimeZone())
		created := v.submit("/panel/claves", url.Values{
			"name": {"De la tienda"}, "scopes": {"read:stores"}, "store_id": {tenant.StoreA.ID.String()}, "expires_at": {ends.Format("2006-01-02T15:04")},
		})
		require.Contains(t, created.words(), "Tienda A · creada el")
		require.Contains(t, created.words(), "vence el "+ends.Format("02/01/2006 15:04"), "on the operator's clock")
		stores := tryKey(t, s, created.textOf(t, "new-key"), "/v1/stores").List
		require.Len(t, stores, 1)
		require.Equal(t, "Tienda A", stores[0].(map[string]any)["name"])

		over := time.Now().Add(-time.Hour)
		tenant.NewKey(t, models.APIKey{ExpiresAt: &over})
		require.Contains(t, v.read("/panel/claves").words(), "Vencida")
	})
}

func TestKeys_refusals(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		for name, c := range map[string]struct {
			fields    url.Values
			complaint string
		}{
			"no name":          {url.Values{"scopes": {"read:orders"}}, "Es obligatorio."},
			"no scope":         {url.Values{"name": {"x"}}, "Debe nombrar al menos un permiso"},
			"an end long past": {url.Values{"name": {"x"}, "scopes": {"read:orders"}, "expires_at": {"2020-01-01T00:00"}}, "Debe estar en el futuro."},
			"another's store":  {url.Values{"name": {"x"}, "scopes": {"read:orders"}, "store_id": {s.NewTenant(t).StoreA.ID.String()}}, "No es una tienda activa del operador."},
		} {
			refused := v.post("/panel/claves", c.fields)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, name)
			require.Contains(t, refused.words(), c.complaint, name)
			require.NotContains(t, refused.Text, "new-key", name)
		}
		store := visit(t, s, tenant, &tenant.StoreA)
		require.Equal(t, http.StatusForbidden, store.get("/panel/claves").Status)
		require.Equal(t, http.StatusForbidden, store.post("/panel/claves", url.Values{"name": {"x"}, "scopes": {"read:orders"}}).Status)

		basic := visit(t, s, s.NewTenant(t, apptest.OnPlan(models.PlanBasic)), nil)
		require.Contains(t, basic.read("/panel/claves").words(), "Su plan no incluye la API")
	})
}

package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
	"despacho/test/testenv"
)

// What the panel changes counts for the very next order, in the process that changed it and in
// every other.
func TestPanelEffect_appliesToTheNextOrderInEveryProcess(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		here := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true})
		there := apptest.Boot(t, databaseURL, apptest.Options{NoWorker: true, TaskQueue: here.Config.TaskQueue})
		tenant := here.NewTenant(t)
		operator := desk{t, here, tenant.SignIn(t, nil)}
		both := func(check func(t *testing.T, s *apptest.Service)) {
			t.Helper()
			check(t, here)
			check(t, there)
		}
		costs := func(want float64, changes ...map[string]any) {
			t.Helper()
			both(func(t *testing.T, s *apptest.Service) {
				t.Helper()
				require.EqualValues(t, want, created(t, s, tenant.Key, changes...).Data["shipping_cost"])
			})
		}
		toSurco, toCusco := fields{"location_id": apptest.Surco}, fields{"location_id": apptest.Cusco}
		costs(12, toSurco) // now both have the settings in memory

		operator.change("/settings", fields{"base_price": 14})
		costs(14, toSurco)
		covered := operator.make("/coverage", fields{"location_id": apptest.Cusco, "price": 30})
		costs(30, toCusco)
		operator.change("/coverage/"+covered, fields{"price": 31})
		costs(31, toCusco)
		operator.delete("/coverage/" + covered)
		both(func(t *testing.T, s *apptest.Service) {
			requireRefused(t, postOrder(t, s, tenant.Key, toCusco), http.StatusUnprocessableEntity, "not_covered")
		})

		agreed := operator.make("/store-prices", fields{"store_id": tenant.StoreA.ID, "price": 7, "from_day": "2026-01-01"})
		costs(7, toSurco, fields{"store_id": tenant.StoreA.ID})
		operator.change("/store-prices/"+agreed, fields{"price": 6})
		costs(6, toSurco, fields{"store_id": tenant.StoreA.ID})
		operator.delete("/store-prices/" + agreed)
		costs(14, toSurco, fields{"store_id": tenant.StoreA.ID})

		size := operator.make("/sizes", fields{"code": "XL", "name": "Muy grande", "surcharge": 10})
		costs(19, fields{"size": "XL"})
		operator.change("/sizes/"+size, fields{"surcharge": 11, "default": true})
		costs(20)

		zone := operator.make("/risk-zones", fields{"name": "Larco", "words": []string{"larco"}})
		both(func(t *testing.T, s *apptest.Service) { require.NotEmpty(t, created(t, s, tenant.Key).Warning) })
		operator.change("/risk-zones/"+zone, fields{"active": false})
		both(func(t *testing.T, s *apptest.Service) { require.Empty(t, created(t, s, tenant.Key).Warning) })

		store := operator.make("/stores", fields{"name": "Nueva"})
		both(func(t *testing.T, s *apptest.Service) {
			require.Equal(t, store, created(t, s, tenant.Key, fields{"store_id": store}).String("store_id"))
			created(t, s, tenant.KeyA)
		})
		operator.change("/stores/"+store, fields{"active": false})
		operator.change("/stores/"+tenant.StoreA.ID.String(), fields{"active": false})
		both(func(t *testing.T, s *apptest.Service) {
			requireWrongFields(t, postOrder(t, s, tenant.Key, fields{"store_id": store}), "store_id")
			requireRefused(t, postOrder(t, s, tenant.KeyA), http.StatusForbidden, "store_inactive")
			requireRefused(t, get(t, s, tenant.KeyA, "/v1/orders"), http.StatusForbidden, "store_inactive")
		})
		operator.change("/stores/"+tenant.StoreA.ID.String(), fields{"active": true})
		both(func(t *testing.T, s *apptest.Service) { created(t, s, tenant.KeyA) })

		branch := operator.make("/branches", fields{"name": "Nueva", "main": true})
		both(func(t *testing.T, s *apptest.Service) {
			require.Equal(t, branch, created(t, s, tenant.Key).String("branch_id"))
		})

		key := operator.post("/keys", fields{"name": "Otra", "scopes": []string{"read:orders"}})
		both(func(t *testing.T, s *apptest.Service) {
			require.Equal(t, http.StatusOK, get(t, s, key.String("key"), "/v1/orders").Status)
		})
		operator.delete("/keys/" + key.String("id"))
		both(func(t *testing.T, s *apptest.Service) {
			require.Equal(t, http.StatusUnauthorized, get(t, s, key.String("key"), "/v1/orders").Status)
		})
	})
}

// An order whose body arrives after its key was checked is priced by one version of the settings: a
// base price of before with a coverage of after would be a price that never was.
func TestPanelEffect_aPriceIsOfOneMoment(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		covered := operator.make("/coverage", fields{"location_id": apptest.Cusco, "price": 30})
		order := apptest.Order(fields{"location_id": apptest.Cusco})
		require.EqualValues(t, 30, created(t, s, tenant.Key, order).Data["shipping_cost"])
		body, err := json.Marshal(order)
		require.NoError(t, err)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+"/v1/orders", nil)
		require.NoError(t, err)
		request.Header.Set("X-API-Key", tenant.Key)
		request.Header.Set("Content-Type", "application/json")
		response, err := apptest.LateBody(t, request, body, func() {
			operator.change("/settings", fields{"base_price": 40})
			operator.change("/coverage/"+covered, fields{"price": nil})
			created(t, s, tenant.Key, order) // from now on the settings of before are not in memory
		}).Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		var answer struct {
			Data struct {
				ShippingCost float64 `json:"shipping_cost"`
			} `json:"data"`
		}
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
		require.Equal(t, http.StatusCreated, response.StatusCode)
		require.EqualValues(t, 40, answer.Data.ShippingCost, "it was 30 and is 40; the base price was 12 before")
	})
}

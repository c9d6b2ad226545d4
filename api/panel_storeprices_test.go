package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

func TestPanelStorePrices(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, strange := operatorDesk(t, s)
		ofA, today := tenant.StoreA.ID.String(), time.Now().In(tenant.Operator.TimeZone()).Format(time.DateOnly)
		costs := func(key string, want float64, place uuid.UUID) {
			t.Helper()
			require.EqualValues(t, want, created(t, s, key, fields{"location_id": place}).Data["shipping_cost"])
		}
		costs(tenant.KeyA, 9, apptest.Miraflores)
		id := operator.make("/store-prices", fields{"store_id": ofA, "location_id": apptest.Miraflores, "price": 7.5, "from_day": "2026-01-01"})
		costs(tenant.KeyA, 7.5, apptest.Miraflores)
		costs(tenant.KeyB, 9, apptest.Miraflores)
		costs(tenant.Key, 9, apptest.Miraflores)
		costs(tenant.KeyA, 12, apptest.Surco)
		row := operator.find("/store-prices", id)
		require.Equal(t, []any{ofA, apptest.Miraflores.String(), 7.5, "2026-01-01", nil},
			[]any{row["store_id"], row["location_id"], row["price"], row["from_day"], row["until_day"]})

		base := operator.make("/store-prices", fields{"store_id": ofA, "price": 8, "from_day": "2026-01-01", "until_day": today})
		costs(tenant.KeyA, 8, apptest.Surco)
		operator.change("/store-prices/"+base, fields{"price": 8.5})
		costs(tenant.KeyA, 8.5, apptest.Surco)
		operator.change("/store-prices/"+base, fields{"until_day": "2026-01-31"})
		costs(tenant.KeyA, 12, apptest.Surco)
		operator.make("/store-prices", fields{"store_id": ofA, "price": 6, "from_day": "2026-02-01"})
		require.Equal(t, "2026-02-01", operator.list("/store-prices")[0]["from_day"], "the latest first")

		for name, other := range map[string]fields{
			"open and open":          {"location_id": apptest.Miraflores, "from_day": "2027-01-01"},
			"ends on its first day":  {"location_id": apptest.Miraflores, "from_day": "2025-01-01", "until_day": "2026-01-01"},
			"begins on its last day": {"from_day": "2026-01-31", "until_day": "2026-01-31"},
			"around it":              {"from_day": "2025-01-01", "until_day": "2026-01-20"},
		} {
			other["store_id"], other["price"] = ofA, 5
			t.Log(name)
			requireRefused(t, operator.post("/store-prices", other), http.StatusConflict, "store_price_overlaps", "from_day")
		}
		requireRefused(t, operator.patch("/store-prices/"+base, fields{"until_day": nil}), http.StatusConflict, "store_price_overlaps", "from_day")
		operator.make("/store-prices", fields{"store_id": tenant.StoreB.ID, "location_id": apptest.Miraflores, "price": 5, "from_day": "2026-01-01"})
		operator.make("/store-prices", fields{"store_id": ofA, "location_id": apptest.Miraflores, "price": 5, "from_day": "2025-01-01", "until_day": "2025-12-31"})

		wrong := fields{"store_id": ofA, "price": 5, "from_day": "2024-01-01", "until_day": "2024-01-31"}
		for field, values := range map[string][]any{
			"store_id": {nil, "x", strange.StoreA.ID, uuid.New()}, "location_id": {"x", apptest.Cusco, uuid.New()}, "price": {nil, "5", -1, 1.234},
			"from_day": {nil, "ayer", "2024-02-30", "2024-1-1", 20240101}, "until_day": {"2023-12-31", "luego", 5},
		} {
			for _, value := range values {
				body := fields{}
				for name, given := range wrong {
					body[name] = given
				}
				body[field] = value
				requireWrongFields(t, operator.post("/store-prices", body), field)
			}
		}
		foreign := stranger.make("/store-prices", fields{"store_id": strange.StoreA.ID, "price": 1, "from_day": "2026-01-01"})
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			operator.requireUnknown(method, "/store-prices", foreign, "store_price_not_found")
		}
		costs(tenant.KeyA, 7.5, apptest.Miraflores)
		require.NotEmpty(t, operator.delete("/store-prices/"+id).Message)
		costs(tenant.KeyA, 9, apptest.Miraflores)
		requireRefused(t, operator.delete("/store-prices/"+id), http.StatusNotFound, "store_price_not_found")
	})
}

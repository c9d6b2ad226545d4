package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/catalog"
	"despacho/test/apptest"
)

func TestPanelCoverage(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, _ := operatorDesk(t, s)
		toCusco := fields{"location_id": apptest.Cusco}
		requireRefused(t, postOrder(t, s, tenant.Key, toCusco), http.StatusUnprocessableEntity, "not_covered")

		id := operator.make("/coverage", fields{"location_id": apptest.Cusco, "price": 25.5})
		require.EqualValues(t, 25.5, created(t, s, tenant.Key, toCusco).Data["shipping_cost"])
		row := operator.find("/coverage", id)
		require.Equal(t, apptest.Cusco.String(), row["location_id"])
		require.EqualValues(t, 25.5, row["price"])
		place := row["location"].(map[string]any)
		require.Equal(t, []any{"Cusco", "district", "080101"}, []any{place["name"], place["type"], place["ubigeo"]})

		require.EqualValues(t, 20, operator.change("/coverage/"+id, fields{"price": 20})["price"])
		require.EqualValues(t, 20, operator.change("/coverage/"+id, fields{})["price"], "what is not sent stays")
		require.Nil(t, operator.change("/coverage/"+id, fields{"price": nil})["price"])
		require.EqualValues(t, 12, created(t, s, tenant.Key, toCusco).Data["shipping_cost"], "the base price")

		requireRefused(t, operator.post("/coverage", fields{"location_id": apptest.Cusco}), http.StatusConflict, "location_already_covered")
		requireRefused(t, operator.patch("/coverage/"+id, fields{"location_id": apptest.Lima}), http.StatusConflict, "location_already_covered")
		foreign := stranger.make("/coverage", fields{"location_id": apptest.Cusco})
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			operator.requireUnknown(method, "/coverage", foreign, "coverage_not_found")
		}
		operator.requireWrong(http.MethodPost, "/coverage", "/coverage", map[string]fields{
			"location_id": {"price": 1}, "price": {"location_id": apptest.Surco, "price": "9"},
		})
		for _, wrong := range []any{uuid.New(), uuid.Nil, "Miraflores", 5} {
			requireWrongFields(t, operator.post("/coverage", fields{"location_id": wrong}), "location_id")
			requireWrongFields(t, operator.patch("/coverage/"+id, fields{"location_id": wrong}), "location_id")
		}

		require.NotEmpty(t, operator.delete("/coverage/"+id).Message)
		requireRefused(t, postOrder(t, s, tenant.Key, toCusco), http.StatusUnprocessableEntity, "not_covered")
		requireRefused(t, operator.delete("/coverage/"+id), http.StatusNotFound, "coverage_not_found")
		require.EqualValues(t, 12, created(t, s, s.NewTenant(t).Key, fields{"location_id": apptest.Surco}).Data["shipping_cost"])
	})
}

// The list goes from the wide to the narrow, by name.
func TestPanelCoverage_sorted(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, _ := operatorDesk(t, s)
		for _, place := range []uuid.UUID{apptest.Surco, apptest.Cusco, catalog.CountryID("PE"), catalog.CityID("PE", "0801"), catalog.DistrictID("PE", "150105")} {
			operator.make("/coverage", fields{"location_id": place})
		}
		var names []any
		for _, row := range operator.list("/coverage") {
			names = append(names, row["location"].(map[string]any)["name"])
		}
		require.Equal(t, []any{"Perú", "Cusco", "Cusco", "Lima", "Breña", "Miraflores", "Santiago de Surco"}, names)
	})
}

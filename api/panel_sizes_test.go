package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

func sizeIDs(operator desk) map[string]string {
	ids := map[string]string{}
	for _, size := range operator.list("/sizes") {
		ids[size["code"].(string)] = size["id"].(string)
	}
	return ids
}

func TestPanelSizes(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, _ := operatorDesk(t, s)
		id := operator.make("/sizes", fields{"code": "XL", "name": "Muy grande", "surcharge": 12.5})
		require.EqualValues(t, 21.5, created(t, s, tenant.Key, fields{"size": "XL"}).Data["shipping_cost"])
		require.EqualValues(t, 12.25, operator.change("/sizes/"+id, fields{"surcharge": 12.25, "code": "XXL"})["surcharge"])
		require.EqualValues(t, 21.25, created(t, s, tenant.Key, fields{"size": "XXL"}).Data["shipping_cost"])
		require.Equal(t, "M", created(t, s, tenant.Key, fields{"size": "XL"}).String("size"), "the old code is unknown now")
		require.Equal(t, []any{"M", "S", "L", "XXL"}, column(operator.list("/sizes"), "code"), "the cheapest first")

		requireRefused(t, operator.post("/sizes", fields{"code": "L", "name": "Otra"}), http.StatusConflict, "size_code_taken")
		requireRefused(t, operator.patch("/sizes/"+id, fields{"code": "S"}), http.StatusConflict, "size_code_taken")
		stranger.make("/sizes", fields{"code": "XXL", "name": "La misma en otra casa"})

		operator.requireWrong(http.MethodPost, "/sizes", "/sizes", map[string]fields{
			"code": {"name": "A"}, "name": {"code": "A"}, "surcharge": {"code": "A", "name": "A", "surcharge": -1}, "default": {"code": "A", "name": "A", "default": "sí"},
		})
		for _, wrong := range []any{"5", 1.001, 1_000_000} {
			requireWrongFields(t, operator.patch("/sizes/"+id, fields{"surcharge": wrong}), "surcharge")
		}
		operator.requireUnknown(http.MethodPatch, "/sizes", sizeIDs(stranger)["XXL"], "size_not_found")

		operator.change("/sizes/"+id, fields{"active": false})
		require.Equal(t, "M", created(t, s, tenant.Key, fields{"size": "XXL"}).String("size"), "an inactive size is unknown to orders")
	})
}

// Exactly one size is the default, whatever the request says.
func TestPanelSizes_oneDefault(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		ids := sizeIDs(operator)
		for _, refused := range []fields{{"default": false}, {"active": false}} {
			requireRefused(t, operator.patch("/sizes/"+ids["M"], refused), http.StatusConflict, "default_size_required")
		}
		requireRefused(t, operator.post("/sizes", fields{"code": "Q", "name": "Q", "default": true, "active": false}), http.StatusConflict, "default_size_required")
		require.Equal(t, true, operator.change("/sizes/"+ids["L"], fields{"default": true})["default"])
		require.Equal(t, false, operator.find("/sizes", ids["M"])["default"])
		require.Equal(t, "L", created(t, s, tenant.Key).String("size"), "the very next order takes the new default")
		id := operator.make("/sizes", fields{"code": "XS", "name": "Sobre", "default": true})
		require.Equal(t, false, operator.find("/sizes", ids["L"])["default"])
		require.Equal(t, true, operator.find("/sizes", id)["default"])
		operator.change("/sizes/"+ids["M"], fields{"active": false})
	})
}

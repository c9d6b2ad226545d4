package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
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

func TestPanelRiders(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, _ := operatorDesk(t, s)
		id := operator.make("/riders", fields{"name": "Ángel Ríos", "phone": "987 111 222"})
		require.Equal(t, "+51987111222", operator.find("/riders", id)["phone"], "without a country code it is of the operator's country")
		require.Equal(t, "+56961234567", operator.change("/riders/"+id, fields{"phone": "+56 9 6123 4567"})["phone"])
		require.Equal(t, []any{"Ángel Ríos", "Carlos Quispe", "María Huamán"}, column(operator.list("/riders"), "name"))

		operator.requireWrong(http.MethodPost, "/riders", "/riders", map[string]fields{
			"name": {"phone": "987111222"}, "phone": {"name": "A", "phone": "123"}, "active": {"name": "A", "phone": "987111222", "active": 0},
		})
		operator.requireWrong(http.MethodPatch, "/riders/"+id, "/riders", map[string]fields{"phone": {"phone": "hola"}, "name": {"name": ""}})
		operator.requireUnknown(http.MethodPatch, "/riders", stranger.make("/riders", fields{"name": "Ajeno", "phone": "987111222"}), "rider_not_found")

		order, another := s.CreateOrder(t, tenant.Key), s.CreateOrder(t, tenant.Key)
		panelMove(t, s, operator.token, order, "receive", nil, http.StatusOK)
		panelMove(t, s, operator.token, another, "receive", nil, http.StatusOK)
		panelMove(t, s, operator.token, another, "assign", fields{"rider_id": id}, http.StatusOK)
		operator.change("/riders/"+id, fields{"active": false})
		panelMove(t, s, operator.token, order, "assign", fields{"rider_id": id}, http.StatusBadRequest)
		operator.change("/riders/"+id, fields{"active": true})
		panelMove(t, s, operator.token, order, "assign", fields{"rider_id": id}, http.StatusOK)
	})
}

func TestPanelRiders_phoneOfTheOperatorsCountry(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, func(o *models.Operator) { o.CountryCode = "CL" })
		operator := desk{t, s, tenant.SignIn(t, nil)}
		id := operator.make("/riders", fields{"name": "Pedro", "phone": "9 6123 4567"})
		require.Equal(t, "+56961234567", operator.find("/riders", id)["phone"])
	})
}

func TestPanelStores(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, _ := operatorDesk(t, s)
		id := operator.make("/stores", fields{"name": " ánfora "})
		operator.make("/stores", fields{"name": "Zapatería Sol", "active": false})
		require.Equal(t, []any{"ánfora", "Tienda A", "Tienda B", "Zapatería Sol"}, column(operator.list("/stores"), "name"),
			"by name as people sort, inactive ones too")
		require.Equal(t, []any{"ánfora", "Tienda A", "Tienda B"}, column(listed(t, get(t, s, tenant.Key, "/v1/stores")), "name"), "and so does the API")
		require.Equal(t, []any{true, true, true, false}, column(operator.list("/stores"), "active"))

		require.Equal(t, "ánfora", operator.change("/stores/"+id, fields{"active": false})["name"], "what is not sent stays")
		require.Equal(t, false, operator.change("/stores/"+id, fields{"name": "Ánfora", "active": nil})["active"])
		require.Equal(t, []any{"Tienda A", "Tienda B"}, column(listed(t, get(t, s, tenant.Key, "/v1/stores")), "name"), "the API lists the active ones")
		require.Equal(t, "Ánfora", operator.change("/stores/"+id, fields{})["name"])

		operator.requireWrong(http.MethodPost, "/stores", "/stores", map[string]fields{"name": {}, "active": {"name": "A", "active": "sí"}})
		operator.requireWrong(http.MethodPatch, "/stores/"+id, "/stores", map[string]fields{"name": {"name": "  "}, "active": {"active": 1}})
		operator.requireUnknown(http.MethodPatch, "/stores", stranger.make("/stores", fields{"name": "Ajena"}), "store_not_found")
		require.NotContains(t, column(stranger.list("/stores"), "name"), "X")
	})
}

func TestPanelRiskZones(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		stranger, _ := operatorDesk(t, s)
		require.Empty(t, created(t, s, tenant.Key).Warning)

		id := operator.make("/risk-zones", fields{"name": "Larco", "words": []string{" LARCO 345 ", "larco, 345", "", "óvalo"}})
		zone := operator.find("/risk-zones", id)
		require.Equal(t, []any{"LARCO 345", "óvalo"}, zone["words"], "trimmed, and the same twice is one")
		require.Nil(t, zone["location_id"])
		require.Contains(t, created(t, s, tenant.Key).Warning, "Larco")
		require.Equal(t, []any{"Huáscar", "Larco"}, column(operator.list("/risk-zones"), "name"))

		zone = operator.change("/risk-zones/"+id, fields{"location_id": apptest.Surco})
		require.Equal(t, []any{"LARCO 345", "óvalo"}, zone["words"])
		require.Empty(t, created(t, s, tenant.Key).Warning, "both must match")
		operator.change("/risk-zones/"+id, fields{"location_id": apptest.Miraflores, "words": []string{}})
		require.NotEmpty(t, created(t, s, tenant.Key).Warning, "the whole place")
		requireWrongFields(t, operator.patch("/risk-zones/"+id, fields{"location_id": nil}), "words")
		operator.change("/risk-zones/"+id, fields{"active": false})
		require.Empty(t, created(t, s, tenant.Key).Warning)

		operator.requireUnknown(http.MethodPatch, "/risk-zones", stranger.make("/risk-zones", fields{"name": "Ajena", "words": []string{"x"}}), "risk_zone_not_found")
	})
}

func TestPanelRiskZones_refuses(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, _ := operatorDesk(t, s)
		many := make([]string, 101)
		for i := range many {
			many[i] = uuid.NewString()
		}
		operator.requireWrong(http.MethodPost, "/risk-zones", "/risk-zones", map[string]fields{
			"name": {"words": []string{"x"}}, "location_id": {"name": "A", "location_id": uuid.New()}, "active": {"name": "A", "words": []string{"x"}, "active": 1},
		})
		for _, wrong := range []any{nil, []string{}, []string{" "}, "larco", []any{1}, []string{"dos\nlíneas"}, []string{"nul\x00"}, []string{"—¿?"}, many, []string{string(make([]rune, 101))}} {
			requireWrongFields(t, operator.post("/risk-zones", fields{"name": "A", "words": wrong}), "words")
		}
		requireWrongFields(t, operator.post("/risk-zones", fields{"location_id": "x"}), "name", "location_id")
		requireWrongFields(t, operator.post("/risk-zones", fields{"name": "A", "location_id": " "}), "words")
	})
}

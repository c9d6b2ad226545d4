package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

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

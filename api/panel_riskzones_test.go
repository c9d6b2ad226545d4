package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

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

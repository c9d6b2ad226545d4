package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/models"
	"despacho/test/apptest"
)

// A parameter that comes twice is refused by every list that has it: with one of the two values it
// would have other elements than were asked for.
func TestQuery_repeatedParameter(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	require.NoError(t, err)
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignInAs(t, &models.User{Admin: true})
		tried := 0
		for path, item := range document.Paths.Map() {
			if item.Get == nil || strings.Contains(path, "{") || !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/public/") && !strings.HasPrefix(path, "/panel/api/") {
				continue
			}
			examples := url.Values{}
			for _, parameter := range item.Get.Parameters {
				if parameter.Value.In == openapi3.ParameterInQuery {
					examples.Set(parameter.Value.Name, fmt.Sprint(parameter.Value.Example))
				}
			}
			for name, values := range examples {
				repeated := url.Values{name: {values[0], values[0]}}
				for other, example := range examples {
					if other != name && strings.HasPrefix(path, "/public/") { // they are required
						repeated[other] = example
					}
				}
				request := apptest.Request{Method: http.MethodGet, Path: path + "?" + repeated.Encode(), Key: tenant.Key}
				if strings.HasPrefix(path, "/panel/") {
					request.Key, request.Token = "", token
				}
				requireRefused(t, s.Do(t, request), http.StatusBadRequest, "invalid_fields", name)
				tried++
			}
		}
		require.Greater(t, tried, 20)
	})
}

// Parameters that net/url cannot decode are refused: a filter is never left out. Encoded, both
// characters belong to the value.
func TestQuery_thatCannotBeDecoded(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.Key)
		for external, query := range map[string]string{"PED;17": "PED%3B17", "50%": "50%25", "5%zz;é%": "5%25zz%3B%C3%A9%25"} {
			want := created(t, s, tenant.Key, map[string]any{"external_id": external}).Data["id"]
			ids, _ := listOrders(t, s, tenant.Key, "?external_id="+query)
			require.Equal(t, []any{want}, ids, query)
		}
		for _, path := range []string{
			"/v1/orders?external_id=PED;17", "/v1/orders?limit=5&external_id=50%", "/v1/orders?from_date=2026-01-01;",
			"/v1/deliveries?status=failed%", "/v1/events?after=nada%",
		} {
			refused := s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: tenant.Key})
			require.Equal(t, http.StatusBadRequest, refused.Status, path)
			require.Equal(t, "invalid_fields", refused.Code, path)
		}
	})
}

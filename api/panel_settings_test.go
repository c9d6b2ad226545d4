package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

func TestPanelSettings(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		read := func() map[string]any { return operator.send(http.MethodGet, "/settings", nil).Data }
		before := read()
		require.Equal(t, []any{"Operador de prueba", nil, 12.0, false}, []any{before["name"], before["logo_url"], before["base_price"], before["share_proof_location"]})
		require.Equal(t, []any{"business", "PEN", "PE"}, []any{before["plan"], before["currency"], before["country_code"]})
		require.Equal(t, before, operator.change("/settings", fields{}))
		require.Equal(t, before, operator.change("/settings", fields{"plan": "pro", "currency": "USD", "id": "x"}), "what is not the operator's to decide is ignored")

		name := tenant.OwnName("Rayo")
		changed := operator.change("/settings", fields{"name": " " + name + " ", "logo_url": "https://rayo.example/logo.png", "base_price": 13.5, "share_proof_location": true})
		require.Equal(t, changed, read())
		require.Equal(t, []any{name, "https://rayo.example/logo.png", 13.5, true}, []any{changed["name"], changed["logo_url"], changed["base_price"], changed["share_proof_location"]})

		toSurco := fields{"location_id": apptest.Surco}
		order := created(t, s, tenant.Key, toSurco)
		require.EqualValues(t, 13.5, order.Data["shipping_cost"])
		track := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/track/" + order.String("guide_code")})
		require.Equal(t, []any{name, "https://rayo.example/logo.png"}, []any{track.Data["tenant_name"], track.Data["tenant_logo_url"]})

		changed = operator.change("/settings", fields{"logo_url": nil, "base_price": nil})
		require.Equal(t, []any{name, nil, nil, true}, []any{changed["name"], changed["logo_url"], changed["base_price"], changed["share_proof_location"]})
		requireRefused(t, postOrder(t, s, tenant.Key, toSurco), http.StatusUnprocessableEntity, "no_tariff")
		require.EqualValues(t, 9, created(t, s, tenant.Key).Data["shipping_cost"], "Miraflores has a price of its own")
	})
}

func TestPanelSettings_refuses(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, _ := operatorDesk(t, s)
		before := operator.send(http.MethodGet, "/settings", nil).Data
		for wrong, values := range map[string][]any{
			"name":                 {"", "  ", 5, strings.Repeat("ñ", 201)},
			"logo_url":             {"http://rayo.example/logo.png", "javascript:alert(1)", "data:image/png;base64,AAAA", "//rayo.example", "https://", "https://a:b@rayo.example/", 5, "https://10.0.0.1/logo.png", "https://x.example/" + strings.Repeat("a", 2048)},
			"base_price":           {"12", -1, 1.001, 1_000_000, true},
			"share_proof_location": {"sí", 1},
		} {
			for _, value := range values {
				requireWrongFields(t, operator.patch("/settings", fields{wrong: value}), wrong)
			}
		}
		require.Equal(t, before, operator.send(http.MethodGet, "/settings", nil).Data)
	})
}

// An operator cannot take the name of another: commands take a name for an id. It keeps the one
// that it has.
func TestPanelSettings_anotherOperatorsName(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		operator, tenant := operatorDesk(t, s)
		other, _ := operatorDesk(t, s)
		name := tenant.OwnName("Rayo Envíos")
		require.Equal(t, name, operator.change("/settings", fields{"name": name})["name"])
		before := other.send(http.MethodGet, "/settings", nil).Data
		for _, taken := range []string{name, strings.ToUpper(name), " " + name + " "} {
			requireWrongFields(t, other.patch("/settings", fields{"name": taken, "base_price": 1}), "name")
		}
		require.Equal(t, before, other.send(http.MethodGet, "/settings", nil).Data)
		require.EqualValues(t, 7, other.change("/settings", fields{"name": "Operador de prueba", "base_price": 7})["base_price"], "every test's operator has this name")
		require.Equal(t, strings.ToUpper(name), operator.change("/settings", fields{"name": strings.ToUpper(name)})["name"], "its own in other letters")
	})
}

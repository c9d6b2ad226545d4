package attacks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// Characters that turn the direction of text around cannot make a name look like another, in any
// field that is shown.
func TestText_thatTurnsItsDirection(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignInAs(t, &models.User{Admin: true})
		order := s.CreateOrder(t, tenant.Key)
		for _, turned := range []string{"Pago \u202eodatisopeD", "a\u202ab", "a\u2066b", "a\u2069b", "a\u200fb", "a\u061cb"} {
			for path, body := range map[string]map[string]any{
				"POST /stores":                      {"name": turned},
				"POST /riders":                      {"name": turned, "phone": "987654321"},
				"POST /branches":                    {"name": turned},
				"POST /sizes":                       {"name": turned, "code": "ZZ"},
				"POST /risk-zones":                  {"name": turned, "words": []string{"x"}},
				"POST /keys":                        {"name": turned, "scopes": []string{"read:orders"}},
				"POST /users":                       {"name": turned, "email": uuid.NewString() + "@prueba.example", "role": "operator"},
				"PATCH /settings":                   {"name": turned},
				"POST /orders":                      apptest.Order(map[string]any{"recipient_name": turned}),
				"POST /orders/" + order + "/cancel": {"reason": turned},
			} {
				method, path, _ := strings.Cut(path, " ")
				answer := s.Do(t, apptest.Request{Method: method, Path: "/panel/api" + path, Token: token, Body: body})
				require.Equal(t, http.StatusBadRequest, answer.Status, "%s %q: %s", path, turned, answer.Text)
				require.Equal(t, "invalid_fields", answer.Code, path)
			}
			for _, field := range []string{"recipient_name", "delivery_address", "delivery_reference", "product", "notes", "external_id"} {
				answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{field: turned})})
				require.Equal(t, []string{field}, answer.Fields, answer.Text)
			}
		}
	})
}

// A name that shows nothing is missing, and what shows nothing around one is left out.
func TestText_thatShowsNothing(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignInAs(t, &models.User{Admin: true})
		for _, invisible := range []string{"\u200b\u200b", "\ufeff", "\u00ad \u2060", "\u3164", "\u2800", "\U000e0041", "\u00a0"} {
			for _, field := range []string{"recipient_name", "delivery_address", "product"} {
				answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{field: invisible})})
				require.Equal(t, []string{field}, answer.Fields, "%q: %s", invisible, answer.Text)
			}
			answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/panel/api/stores", Token: token, Body: map[string]any{"name": invisible}})
			require.Equal(t, []string{"name"}, answer.Fields, "%q: %s", invisible, answer.Text)
			answer = s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{"recipient_name": invisible + "Rosa" + invisible})})
			require.Equal(t, "Rosa", answer.String("recipient_name"), "%q: %s", invisible, answer.Text)
		}
	})
}

// A name of marks alone, which have no character to stand on, is missing too; those of a name stay.
func TestText_ofMarksAlone(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, marks := range []string{"\ufe0f", "\u0301 \u20dd", "\u200d\ufe0f"} {
			answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{"recipient_name": marks})})
			require.Equal(t, []string{"recipient_name"}, answer.Fields, "%q: %s", marks, answer.Text)
		}
		for _, name := range []string{"Di\u0301az", "Rosa \u2764\ufe0f"} {
			answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: "/v1/orders", Key: tenant.Key, Body: apptest.Order(map[string]any{"recipient_name": name})})
			require.Equal(t, name, answer.String("recipient_name"), answer.Text)
		}
	})
}

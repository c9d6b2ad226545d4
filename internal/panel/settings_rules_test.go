package panel_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"despacho/test/apptest"
)

// sends is what a browser sends of a form that nobody has touched.
func (p *page) sends(t *testing.T, action string) url.Values {
	t.Helper()
	values := p.fieldsOf(t, action)
	root, err := html.Parse(strings.NewReader(p.Text))
	require.NoError(t, err)
	for input := range root.Descendants() {
		if attribute(input, "type") == "checkbox" {
			values.Del(attribute(input, "name"))
		}
	}
	for input := range root.Descendants() {
		checked := slices.ContainsFunc(input.Attr, func(a html.Attribute) bool { return a.Key == "checked" })
		if attribute(input, "type") == "checkbox" && checked {
			values.Add(attribute(input, "name"), attribute(input, "value"))
		}
	}
	return values
}

// The rules of attempts and deliveries are changed one by one: what somebody else has changed
// meanwhile stays.
func TestSettings_rules(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		const path = "/panel/ajustes/entregas"
		settings := func() map[string]any {
			answer := s.Do(t, apptest.Request{Method: "GET", Path: "/panel/api/settings", Token: tenant.SignIn(t, nil)})
			rules, _ := answer.Data["rules"].(map[string]any)
			return rules
		}
		opened := v.read(path)
		form := opened.sends(t, path)
		require.Equal(t, []string{"1", "2", "3", "4", "5", "6"}, form["delivery_days"])
		changed := v.submit(path, url.Values{"max_attempts": {"2"}, "delivery_days": {"1", "3", "7"}, "note_reasons": {"other"}, "methods": {"cash", "yape"},
			"needs_photo": {"true"}, "pin_over": {"500"}, "attempt_fee": {"2"}, "return_fee": {"3,50"}, "undo_minutes": {"0"}, "decision_hours": {"48"}, "whatsapp_template": {"Hola {nombre}"}})
		require.Contains(t, changed.words(), "Reglas guardadas.")
		rules := settings()
		for name, want := range map[string]any{
			"max_attempts": 2.0, "decision_hours": 48.0, "undo_minutes": 0.0, "pin_over": 500.0, "attempt_fee": 2.0, "return_fee": 3.5, "needs_photo": true, "needs_point": false, "whatsapp_template": "Hola {nombre}",
			"delivery_days": []any{1.0, 3.0, 7.0}, "note_reasons": []any{"other"}, "methods": []any{"cash", "yape"}, "hidden_reasons": []any{},
		} {
			require.Equal(t, want, rules[name], name)
		}

		form.Set("decision_hours", "12") // the form that was opened before
		refused := v.post(path, form)
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Otra persona lo cambió: ahora dice «48».")
		form = v.read(path).sends(t, path)
		form.Set("max_attempts", "99")
		require.Contains(t, v.post(path, form).words(), "Va de 1 a 10.")
		form.Set("max_attempts", "4")
		v.submit(path, form)
		require.Equal(t, 4.0, settings()["max_attempts"])
		require.Equal(t, 48.0, settings()["decision_hours"])
	})
}

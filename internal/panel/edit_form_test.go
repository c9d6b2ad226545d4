package panel_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/dbtest"
)

const changedMeanwhile = "Alguien cambió estos datos desde que usted los abrió."

var seenValue = regexp.MustCompile(`<input type="hidden" name="seen" value="([^"]+)">`)

// seen is what the page's form sends about the values that it showed.
func (p *page) seen(t *testing.T) string {
	t.Helper()
	found := seenValue.FindStringSubmatch(p.Text)
	require.Len(t, found, 2, p.words())
	return found[1]
}

// A page that was opened before a colleague lost access does not give it back.
func TestUsers_anOldPageUndoesNothing(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		token := tenant.SignInAs(t, &models.User{Admin: true})
		v := getAs(t, s, tenant, &models.User{Admin: true})
		colleague := &models.User{Admin: true, Name: "Ana Soto"}
		tenant.SignInAs(t, colleague)
		path := "/panel/usuarios/" + colleague.ID.String()
		form := url.Values{
			"name": {"Ana Soto Ríos"}, "email": {colleague.Email}, "role": {"operator"}, "store_id": {""}, "admin": {"true"}, "active": {"true"},
			"seen": {v.read(path).seen(t)},
		}
		removed := s.Do(t, apptest.Request{Method: http.MethodPatch, Path: "/panel/api/users/" + colleague.ID.String(), Token: token, Body: map[string]any{"active": false, "admin": false}})
		require.Equal(t, http.StatusOK, removed.Status, removed.Text)

		require.Contains(t, v.submit(path, form).words(), "Usuario guardado.")
		now := dbtest.Row[models.User](t, s.App.DB, "id = ?", colleague.ID)
		require.Equal(t, []any{"Ana Soto Ríos", false, false}, []any{now.Name, now.Admin, now.Active})
	})
}

// Two people change the same value: the form of the second comes back with what the second typed
// and what there is now, and changes it once it is sent again. A form that was refused for another
// reason can be sent again.
func TestForms_anOldPageUndoesNothing(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := getAs(t, s, tenant, &models.User{Admin: true})
		hook, _ := v.registerAt(t, "https://receptor.example/hook", nil)
		size := owned[models.Size](t, tenant, func(r models.Size) uuid.UUID { return r.ID })
		zone := owned[models.RiskZone](t, tenant, func(r models.RiskZone) uuid.UUID { return r.ID })
		for page, form := range map[string]struct {
			action, text, required string
			values                 url.Values
		}{
			"/panel/motorizados/" + tenant.Riders[0].ID.String(): {"", "name", "phone", url.Values{"name": {"Ana"}, "phone": {"+51987111222"}}},
			"/panel/sucursales/" + tenant.Main.ID.String():       {"", "name", "main", url.Values{"name": {"Centro"}, "main": {"true"}, "active": {"true"}}},
			"/panel/tamanos/" + size:                             {"", "name", "code", url.Values{"code": {"XS"}, "name": {"Mínima"}, "surcharge": {"1"}, "default": {"true"}, "active": {"true"}}},
			"/panel/zonas-de-riesgo/" + zone:                     {"", "name", "name", url.Values{"name": {"Zona"}, "words": {"12"}}},
			"/panel/tiendas/" + tenant.StoreA.ID.String():        {"", "name", "name", url.Values{"name": {"Sol"}, "contact_phone": {"+51987111222"}, "active": {"true"}}},
			"/panel/ajustes":                                     {"", "name", "name", url.Values{"name": {tenant.OwnName("Rauda")}, "base_price": {"5"}}},
			hook:                                                 {"/cambiar", "url", "events", url.Values{"url": {"https://otro.example/hook"}, "events": {"order.created"}}},
		} {
			with := func(field, value string) url.Values {
				values := maps.Clone(form.values)
				values.Set(field, value)
				return values
			}
			opened := v.read(page).seen(t)
			saved := v.post(page+form.action, form.values)
			require.Equal(t, http.StatusSeeOther, saved.Status, "a page from before forms sent what they showed: %s", saved.words())
			now := v.read(page).seen(t)
			require.NotEqual(t, opened, now, page)

			old := with("seen", opened)
			old.Set(form.text, "https://tercero.example/")
			stale := v.post(page+form.action, old)
			require.Equal(t, http.StatusUnprocessableEntity, stale.Status, page)
			require.Contains(t, stale.words(), changedMeanwhile, page)
			require.Contains(t, stale.words(), "Otra persona lo cambió: ahora dice «"+form.values.Get(form.text)+"».", page)
			require.Contains(t, stale.Text, `value="https://tercero.example/"`, "what was typed is kept: %s", page)
			require.Equal(t, now, v.read(page).seen(t), "nothing was saved: %s", page)

			incomplete := with("seen", now)
			incomplete.Del(form.required)
			refused := v.post(page+form.action, incomplete)
			require.Equal(t, http.StatusUnprocessableEntity, refused.Status, page)
			require.NotContains(t, refused.words(), changedMeanwhile, page)
			require.Equal(t, http.StatusSeeOther, v.post(page+form.action, with("seen", refused.seen(t))).Status, page)
			deliberate := maps.Clone(old)
			deliberate.Set("seen", stale.seen(t))
			require.Equal(t, http.StatusSeeOther, v.post(page+form.action, deliberate).Status, page)
			require.Contains(t, v.read(page).Text, `value="https://tercero.example/"`, page)
		}
	})
}

// The price of a place that somebody else has changed is not changed back from an old page.
func TestCoverage_anOldPageUndoesNoPrice(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		forms, _ := v.read("/panel/cobertura?q=miraflores").bound(t)
		action := unbound(forms[0])
		opened := v.read("/panel/cobertura?q=miraflores").fieldsOf(t, action)
		require.Equal(t, "9.00", opened.Get("price"))
		require.Contains(t, v.submit(action, url.Values{"price": {"11"}, "seen": opened["seen"]}).words(), "Precio guardado.")

		require.Contains(t, v.submit(action, opened).words(), "Precio guardado.", "nothing was changed in it")
		require.Equal(t, "11.00", v.read("/panel/cobertura?q=miraflores").fieldsOf(t, action).Get("price"))
		opened.Set("price", "13")
		stale := v.post(action, opened)
		require.Equal(t, http.StatusUnprocessableEntity, stale.Status)
		require.Contains(t, stale.words(), "Otra persona lo cambió: ahora dice «11.00».")
		now := stale.fieldsOf(t, action)
		require.Equal(t, "13", now.Get("price"), "what was typed is kept")
		require.Equal(t, "11.00", v.read("/panel/cobertura?q=miraflores").fieldsOf(t, action).Get("price"), "nothing was saved")
		require.Contains(t, v.submit(action, now).words(), "Precio guardado.")
	})
}

// The form of an order's point is not filled in: an old page has no old point to send back.
func TestOrder_anOldPageBringsNoPointBack(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		id, _ := create(t, s, tenant.KeyA, map[string]any{"delivery_lat": -12.12, "delivery_lng": -77.03})
		v := visit(t, s, tenant, nil)
		path := "/panel/pedidos/" + id
		opened := v.read(path)
		require.Contains(t, opened.words(), "-12.12,-77.03", "the page shows the point")
		v.submit(path+"/punto", url.Values{"delivery_point": {"-12.13, -77.03"}})
		require.Equal(t, http.StatusUnprocessableEntity, v.post(path+"/punto", opened.fieldsOf(t, path+"/punto")).Status)
		require.Contains(t, v.read(path).words(), "-12.13,-77.03")
	})
}

// Two people who save at the same moment do not overwrite each other: what is compared with what
// the person saw is the row that is changed, not the one that the request has read before.
func TestForms_ofTwoAtOnceOneIsRefused(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v, other := getAs(t, s, tenant, &models.User{Admin: true}), getAs(t, s, tenant, &models.User{Admin: true})
		hook, _ := v.registerAt(t, "https://receptor.example/hook", nil)
		for page, form := range map[string]struct {
			action        string
			first, second url.Values
			saved         string
		}{
			"/panel/motorizados/" + tenant.Riders[0].ID.String(): {
				"", url.Values{"name": {"Primera"}, "phone": {"+51987111222"}}, url.Values{"name": {"Segunda"}, "phone": {"+51987111222"}}, `value="Primera"`,
			},
			"/panel/ajustes": {
				"", url.Values{"name": {tenant.OwnName("Primera")}, "base_price": {"5"}}, url.Values{"name": {tenant.OwnName("Segunda")}, "base_price": {"6"}},
				`value="` + tenant.OwnName("Primera") + `"`,
			},
			hook: {
				"/cambiar", url.Values{"url": {"https://primera.example/"}, "events": {"order.created"}},
				url.Values{"url": {"https://segunda.example/"}, "events": {"order.created"}}, `value="https://primera.example/"`,
			},
		} {
			opened := v.read(page).seen(t)
			form.first.Set("seen", opened)
			form.second.Set("seen", opened)
			late := v.postAfter(t, page+form.action, form.second, func() {
				require.Equal(t, http.StatusSeeOther, other.post(page+form.action, form.first).Status, page)
			})
			require.Equal(t, http.StatusUnprocessableEntity, late.Status, page)
			require.Contains(t, late.words(), changedMeanwhile, page)
			now := v.read(page)
			require.Contains(t, now.Text, form.saved, page)
			require.Equal(t, now.seen(t), late.seen(t), page)
		}
	})
}

// postAfter is post of a form whose values arrive after something has happened: the server asks for
// them when it has read whose form it is.
func (v *visitor) postAfter(t *testing.T, path string, fields url.Values, happens func()) *page {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, v.base+path, nil)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	slow := *v
	slow.client = apptest.LateBody(t, request, []byte(fields.Encode()), happens)
	slow.client.Jar, slow.client.CheckRedirect = v.client.Jar, v.client.CheckRedirect
	return slow.do(request)
}

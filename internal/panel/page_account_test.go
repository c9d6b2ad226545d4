package panel_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"despacho/models"
	"despacho/test/apptest"
)

// unbound is the address of a form without the user whose page it is on.
func unbound(action string) string {
	address, query, _ := strings.Cut(action, "?")
	rest := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool { return pair == "" || strings.HasPrefix(pair, "cuenta=") })
	if len(rest) == 0 {
		return address
	}
	return address + "?" + strings.Join(rest, "&")
}

// bound are the addresses that the page sends its forms to and fetches its changing parts from.
func (p *page) bound(t testing.TB) (forms, parts []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(p.Text))
	require.NoError(t, err)
	for element := range root.Descendants() {
		if element.Data == "form" && attribute(element, "method") == "post" && unbound(attribute(element, "action")) != "/panel/salir" {
			forms = append(forms, attribute(element, "action"))
		}
		if live := attribute(element, "data-live"); live != "" {
			parts = append(parts, live)
		}
	}
	return forms, parts
}

// becomes signs another user in, in another tab of the same browser.
func (v *visitor) becomes(tenant *apptest.Tenant, user *models.User) {
	v.t.Helper()
	tenant.SignInAs(v.t, user)
	sent := v.post("/panel/ingreso", url.Values{"email": {user.Email}, "password": {apptest.Password}})
	require.Equal(v.t, http.StatusSeeOther, sent.Status, sent.Text)
}

// What a page sends that was opened before somebody else signed in acts for nobody, whatever the
// page is.
func TestForms_ofAnotherAccountAreRefused(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, other := s.NewTenant(t), s.NewTenant(t)
		created := tenant.Row(s.App.Clock().Now())
		tenant.InsertRows(t, []models.Order{created})
		order := "/panel/pedidos/" + created.ID.String()
		owner := models.User{Admin: true}
		v := getAs(t, s, tenant, &owner)
		fields := validForm(t, v)
		var forms, parts []string
		for _, path := range []string{
			newOrder, "/panel/pedidos", order, order + "/corregir",
			"/panel/recepcion", "/panel/asignacion", "/panel/carga", "/panel/claves", "/panel/webhooks", "/panel/cuenta",
			"/panel/tiendas", "/panel/motorizados", "/panel/sucursales", "/panel/tamanos", "/panel/zonas-de-riesgo",
			"/panel/cobertura", "/panel/cobertura/carga", "/panel/ajustes", "/panel/usuarios", "/panel/privacidad",
			"/panel/tiendas/" + tenant.StoreB.ID.String(), "/panel/tiendas/" + tenant.StoreB.ID.String() + "/tarifas", "/panel/usuarios/" + owner.ID.String(),
		} {
			shown, live := v.read(path).bound(t)
			forms, parts = append(forms, shown...), append(parts, live...)
		}
		require.Greater(t, len(forms), 25)
		require.Len(t, parts, 2)
		opened := forms[0]
		require.Equal(t, newOrder, unbound(opened))

		v.becomes(other, &models.User{Name: "Otra Persona", Admin: true})
		for _, action := range forms {
			refused := v.post(action, fields)
			require.Equal(t, http.StatusConflict, refused.Status, action)
			require.Contains(t, refused.words(), "No se hizo nada: la página se abrió con otra cuenta, y en este navegador ahora ingresó Otra Persona.", action)
		}
		for _, part := range parts {
			require.Equal(t, http.StatusConflict, v.getWith(part, "X-Fragment", "board").Status, part)
		}
		require.Empty(t, v.read("/panel/pedidos").rows(), "no order of the other operator")

		require.Equal(t, http.StatusSeeOther, v.post("/panel/ingreso", url.Values{"email": {owner.Email}, "password": {apptest.Password}}).Status)
		require.Equal(t, http.StatusSeeOther, v.post(opened, fields).Status, "the page is still that of its own account")
	})
}

// Every page of a signed-in user names the user where it sends something.
func TestForms_nameTheirUser(t *testing.T) {
	files, err := filepath.Glob("templates/*/*.html")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if slices.Contains([]string{"sign_in.html", "password_reset.html", "failure.html"}, filepath.Base(file)) {
			continue
		}
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, tag := range regexp.MustCompile(`<form method="post"[^>]*>| data-(?:live|after)="[^"]*"`).FindAllString(string(source), -1) {
			require.Regexp(t, `^(<form method="post" action| data-live| data-after)="\{\{\$(frame)?\.Own `, tag, file)
		}
	}
}

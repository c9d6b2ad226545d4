package panel_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

func TestStores_onlyForTheOperator(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)

		listed := v.submit("/panel/tiendas", url.Values{"name": {"12345"}})
		require.Contains(t, listed.words(), "Tienda agregada.")
		require.Contains(t, listed.words(), "12345", "a name of digits is a name")
		require.NotContains(t, v.read("/panel/tiendas").words(), "Tienda agregada.", "a notice is shown once")

		refused := v.post("/panel/tiendas", url.Values{"name": {" "}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
		require.Contains(t, refused.words(), "Es obligatorio.")

		path := "/panel/tiendas/" + tenant.StoreA.ID.String()
		require.Contains(t, v.read(path).Text, `value="Tienda A"`)
		require.Contains(t, v.submit(path, url.Values{"name": {"Tienda Nueva"}}).words(), "Tienda Nueva", "and without the tick")
		require.Contains(t, v.read("/panel/tiendas").words(), "Inactiva")

		contacts := url.Values{"name": {"Tienda Nueva"}, "active": {"true"}, "contact_whatsapp": {"911 000 111"}, "contact_email": {"hola@nueva.example"}}
		require.Contains(t, v.submit(path, contacts).words(), "+51911000111 · hola@nueva.example")
		require.Contains(t, v.read(path).Text, `value="&#43;51911000111"`)
		contacts.Set("contact_phone", "hola")
		require.Contains(t, v.post(path, contacts).words(), "No es un número de teléfono válido.")

		require.Equal(t, http.StatusForbidden, visit(t, s, tenant, &tenant.StoreB).get("/panel/tiendas").Status)
		require.Equal(t, http.StatusNotFound, visit(t, s, s.NewTenant(t), nil).get(path).Status)
	})
}

func TestPanel_requiresSignIn(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := signedOut(t, s)
		sent := v.get("/panel/tiendas?x=1")
		require.Equal(t, http.StatusSeeOther, sent.Status)
		require.Equal(t, "/panel/ingreso?siguiente=%2Fpanel%2Ftiendas%3Fx%3D1", sent.Location)
		require.Contains(t, v.read(sent.Location).Text, `name="siguiente" value="/panel/tiendas?x=1"`)
		for _, outside := range []string{
			"https://otro.example/panel/", "//otro.example/panel/", "/\\otro.example/panel/", "/panel/../files/x", "/panel/%2e%2e/docs", "/panel/..//otro.example", "/panel//otro.example",
			"/panel/./x", "/panelx", "/panel/api/orders", "panel/pedidos", "javascript:/panel/x", "/docs", "", "/panel/\tx", "https:/panel/x", "https:panel/x", "/panel/x/../../y",
		} {
			page := v.read("/panel/ingreso?siguiente=" + url.QueryEscape(outside))
			require.Contains(t, page.Text, `name="siguiente" value="/panel/hoy"`, outside)
		}

		wrong := v.post("/panel/ingreso", url.Values{"email": {"nadie@prueba.example"}, "password": {"12345678"}})
		require.Equal(t, http.StatusUnauthorized, wrong.Status)
		require.Contains(t, wrong.words(), "El correo o la contraseña no son correctos.")
	})
}

// Two stores of one name cannot be told apart by people or in files.
func TestStores_namesAreUnique(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, nil)
		v.submit("/panel/tiendas", url.Values{"name": {"Zapatería Sol"}})
		refused := v.post("/panel/tiendas", url.Values{"name": {"zapateria  SOL"}})
		require.Contains(t, refused.words(), "Ya hay una tienda con ese nombre.")
		require.Contains(t, refused.Text, `value="zapateria  SOL"`)
		require.Contains(t, v.post("/panel/tiendas/"+tenant.StoreA.ID.String(), url.Values{"name": {"Zapatería Sol"}, "active": {"true"}}).words(), "Ya hay una tienda con ese nombre.")
		require.Contains(t, v.submit("/panel/tiendas/"+tenant.StoreA.ID.String(), url.Values{"name": {tenant.StoreA.Name}, "active": {"true"}}).words(), "guardada", "its own name is not another's")
		visit(t, s, s.NewTenant(t), nil).submit("/panel/tiendas", url.Values{"name": {"Zapatería Sol"}})
	})
}

// A user who may open no page can sign out, and sign in as another.
func TestPanel_aUserOfAnInactiveStoreCanSignOut(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := visit(t, s, tenant, &tenant.StoreB)
		visit(t, s, tenant, nil).submit("/panel/tiendas/"+tenant.StoreB.ID.String(), url.Values{"name": {"Tienda B"}})
		refused := v.get("/panel/pedidos")
		require.Equal(t, http.StatusForbidden, refused.Status)
		require.Contains(t, refused.words(), "La tienda está desactivada.")
		refused.fieldsOf(t, "/panel/salir")
		require.Equal(t, "/panel/ingreso", v.post("/panel/salir", nil).Location)
		require.NotContains(t, v.cookies(), "despacho_session")
	})
}

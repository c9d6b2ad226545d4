package panel_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/panel"
	"despacho/models"
	"despacho/test/apptest"
)

// forEverybody are the routes that a user of the operator needs no grant for.
var forEverybody = []string{
	"GET /panel", "GET /panel/hoy", "GET /panel/teclas", "GET /panel/resumen", "GET /panel/ubicaciones", "GET /panel/destinos",
	"GET /panel/pedidos", "GET /panel/pedidos.csv", "GET /panel/pedidos/:id",
	"GET /panel/cuenta", "POST /panel/cuenta", "GET /panel/cuenta/segundo-factor", "POST /panel/cuenta/segundo-factor",
	"GET /panel/cuenta/segundo-factor/confirmar", "POST /panel/cuenta/segundo-factor/confirmar",
	"POST /panel/cuenta/segundo-factor/quitar",
}

// creating are the routes that make orders and their labels: both the counter and dispatch do.
var creating = []string{
	"GET /panel/pedidos/nuevo", "POST /panel/pedidos/nuevo", "GET /panel/pedidos/tarifa", "GET /panel/etiquetas",
	"GET /panel/carga", "POST /panel/carga", "GET /panel/carga/plantilla.csv", "GET /panel/carga/columnas", "POST /panel/carga/columnas",
	"GET /panel/carga/revisar", "POST /panel/carga/revisar", "GET /panel/carga/crear", "POST /panel/carga/crear",
	"POST /panel/carga/resumen", "POST /panel/carga/resultado.csv", "POST /panel/carga/errores.csv",
}

// openedBy are the routes that each grant opens besides.
var openedBy = map[models.Grant][]string{
	models.GrantCounter: append([]string{
		"GET /panel/recepcion", "POST /panel/recepcion", "POST /panel/pedidos/:id/recibir",
		"GET /panel/pedidos/recibir", "POST /panel/pedidos/recibir",
		"GET /panel/devoluciones", "POST /panel/devoluciones", "GET /panel/devoluciones/recibo", "POST /panel/pedidos/:id/devolver",
	}, creating...),
	models.GrantDispatch: append([]string{
		"GET /panel/asignacion", "GET /panel/asignacion.csv", "POST /panel/asignacion", "GET /panel/hoja",
		"POST /panel/pedidos/:id/asignar", "GET /panel/pedidos/asignar", "POST /panel/pedidos/asignar",
		"POST /panel/pedidos/:id/entregar", "GET /panel/pedidos/entregar", "POST /panel/pedidos/entregar",
		"POST /panel/pedidos/:id/no-entregado", "GET /panel/pedidos/no-entregado", "POST /panel/pedidos/no-entregado",
		"POST /panel/pedidos/:id/decidir", "POST /panel/pedidos/:id/deshacer", "POST /panel/pedidos/:id/punto",
		"POST /panel/pedidos/:id/cancelar", "GET /panel/pedidos/cancelar", "POST /panel/pedidos/cancelar",
		"GET /panel/pedidos/:id/corregir", "POST /panel/pedidos/:id/corregir",
		"GET /panel/motorizados", "GET /panel/motorizados/:id",
		"POST /panel/motorizados/:id/enlace", "POST /panel/motorizados/:id/quitar-acceso",
	}, creating...),
	models.GrantCash: {
		"POST /panel/pedidos/:id/corregir-entrega",
		"GET /panel/caja", "GET /panel/caja/rendir", "POST /panel/caja/rendir", "GET /panel/caja/rendiciones/:id",
		"POST /panel/caja/ajuste/rider", "POST /panel/caja/ajuste/store", "POST /panel/caja/ajuste/count", "POST /panel/caja/ajuste/deposit",
		"GET /panel/liquidaciones", "GET /panel/liquidaciones/nueva", "POST /panel/liquidaciones/nueva",
		"GET /panel/liquidaciones/:id", "GET /panel/liquidaciones/:id/pedidos.csv", "POST /panel/liquidaciones/:id/pagar",
	},
	models.GrantSettings: {
		"GET /panel/ajustes", "POST /panel/ajustes", "GET /panel/ajustes/entregas", "POST /panel/ajustes/entregas",
		"POST /panel/ajustes/logo", "POST /panel/ajustes/logo/quitar",
		"GET /panel/tiendas", "POST /panel/tiendas", "GET /panel/tiendas/:id", "POST /panel/tiendas/:id",
		"GET /panel/motorizados", "POST /panel/motorizados", "GET /panel/motorizados/:id", "POST /panel/motorizados/:id",
		"GET /panel/sucursales", "POST /panel/sucursales", "GET /panel/sucursales/:id", "POST /panel/sucursales/:id",
		"GET /panel/tamanos", "POST /panel/tamanos", "GET /panel/tamanos/:id", "POST /panel/tamanos/:id",
		"GET /panel/zonas-de-riesgo", "POST /panel/zonas-de-riesgo", "GET /panel/zonas-de-riesgo/:id", "POST /panel/zonas-de-riesgo/:id",
		"GET /panel/cobertura", "POST /panel/cobertura", "GET /panel/cobertura.csv", "POST /panel/cobertura/:id",
		"POST /panel/cobertura/:id/quitar", "GET /panel/cobertura/carga", "POST /panel/cobertura/carga", "POST /panel/cobertura/carga/aplicar",
		"GET /panel/tiendas/:id/tarifas", "POST /panel/tiendas/:id/tarifas", "GET /panel/tarifas/:id", "POST /panel/tarifas/:id",
		"POST /panel/tarifas/:id/quitar",
		"GET /panel/claves", "POST /panel/claves", "POST /panel/claves/:id/revocar",
		"GET /panel/webhooks", "POST /panel/webhooks", "GET /panel/webhooks/:id", "POST /panel/webhooks/:id/probar",
		"POST /panel/webhooks/:id/cambiar", "POST /panel/webhooks/:id/pausar", "POST /panel/webhooks/:id/reanudar",
		"POST /panel/webhooks/:id/rotar", "POST /panel/webhooks/:id/desactivar", "POST /panel/webhooks/:id/reenviar",
		"POST /panel/envios/:id/reenviar",
	},
}

// forAdministrators are the routes that no grant opens.
var forAdministrators = []string{
	"GET /panel/usuarios", "POST /panel/usuarios", "GET /panel/usuarios/:id", "POST /panel/usuarios/:id",
	"POST /panel/usuarios/:id/contrasena", "POST /panel/usuarios/:id/enlace", "POST /panel/usuarios/:id/segundo-factor",
	"GET /panel/privacidad", "POST /panel/privacidad", "POST /panel/pedidos/:id/eliminar-datos",
	"GET /panel/actividad", "GET /panel/actividad.csv",
}

func routesOf(s *apptest.Service) []panel.Route {
	return panel.New(panel.Options{Config: s.Config, DB: s.App.DB, Orders: s.App.Orders}).Routes()
}

// withGrants visits as a user of the operator who has these grants alone.
func withGrants(t testing.TB, s *apptest.Service, tenant *apptest.Tenant, grants ...models.Grant) *visitor {
	t.Helper()
	return signedInWith(t, s, tenant.SignInWith(t, grants...))
}

// Every route of the panel is tried with every grant alone, and with none. One that no table names
// fails.
func TestRoutes_grants(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		people := map[models.Grant]*visitor{"": withGrants(t, s, tenant)}
		known := slices.Concat(forEverybody, forAdministrators)
		for _, grant := range models.Grants {
			people[grant] = withGrants(t, s, tenant, grant)
			known = append(known, openedBy[grant]...)
		}
		var tried []string
		for _, route := range routesOf(s) {
			name := route.Method + " " + route.Path
			tried = append(tried, name)
			path := strings.ReplaceAll(route.Path, ":id", uuid.NewString())
			for grant, v := range people {
				answer := v.get
				if route.Method == http.MethodPost {
					answer = func(path string) *page { return v.post(path, nil) }
				}
				may := slices.Contains(forEverybody, name) || slices.Contains(openedBy[grant], name)
				require.Equal(t, may, answer(path).Status != http.StatusForbidden, "%q: %s", grant, name)
			}
		}
		require.Subset(t, known, tried, "a route needs a permission, and the tables say which")
		require.Subset(t, tried, known)
	})
}

var (
	linked   = regexp.MustCompile(`\b(href|formaction)="(/panel[^"?#]*)`)
	formed   = regexp.MustCompile(`<form method="(get|post)" action="(/panel[^"?#]*)`)
	anyID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	notRoute = regexp.MustCompile(`^/panel/(salir|assets/)`)
)

// No page has a link or a form that ends in a refusal.
func TestPages_offerWhatTheUserMayUse(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		c := counterOf(t, s, tenant)
		out := func() parcel {
			p := c.received()
			c.move(p, "assign", map[string]any{"rider_id": tenant.Riders[0].ID})
			return p
		}
		assigned, failed, undecided, delivered := out(), out(), out(), out()
		c.move(failed, "attempt", map[string]any{"reason": "absent"})
		c.move(undecided, "attempt", map[string]any{"reason": "absent"})
		c.move(undecided, "receive", nil)
		c.move(delivered, "deliver", nil)
		pages := []string{
			"/panel/motorizados/" + tenant.Riders[0].ID.String(), "/panel/pedidos?estado=assigned", "/panel/devoluciones?tienda=x",
			"/panel/pedidos/" + s.CreateOrder(t, tenant.KeyA),
		}
		for _, p := range []parcel{c.received(), assigned, failed, undecided, delivered} {
			pages = append(pages, "/panel/pedidos/"+p.id)
		}
		routes := routesOf(s)
		for _, route := range routes {
			if route.Method == http.MethodGet && !strings.Contains(route.Path, ":id") && !strings.HasSuffix(route.Path, ".csv") {
				pages = append(pages, route.Path)
			}
		}
		for _, grants := range [][]models.Grant{
			nil, {models.GrantCounter}, {models.GrantDispatch}, {models.GrantCash}, {models.GrantSettings}, models.Grants,
		} {
			user, v := &models.User{Role: models.RoleOperator, Active: true, Grants: models.JoinSpaced(grants)}, withGrants(t, s, tenant, grants...)
			checked := 0
			for _, path := range pages {
				shown := v.get(path)
				if shown.Status == http.StatusForbidden {
					continue
				}
				check := func(method, target string) {
					target = strings.TrimSuffix(anyID.ReplaceAllString(target, ":id"), "/")
					at := slices.IndexFunc(routes, func(r panel.Route) bool { return r.Method == method && r.Path == target })
					if notRoute.MatchString(target) {
						return
					}
					require.GreaterOrEqual(t, at, 0, "%s: %s %s", path, method, target)
					require.True(t, routes[at].Needs.Allows(user), "%v: %s offers %s %s", grants, path, method, target)
					checked++
				}
				for _, link := range linked.FindAllStringSubmatch(shown.Text, -1) {
					check(http.MethodGet, link[2])
				}
				for _, form := range formed.FindAllStringSubmatch(shown.Text, -1) {
					check(strings.ToUpper(form[1]), form[2])
				}
			}
			require.Greater(t, checked, 50, "%v", grants)
		}
	})
}

// A user of the counter is not shown what others do.
func TestPages_ofTheCounter(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := withGrants(t, s, tenant, models.GrantCounter)
		home := v.read("/panel/hoy").Text
		require.NotContains(t, home, "Configuración")
		require.NotContains(t, home, "Asignación")
		require.NotContains(t, home, "Webhooks que fallan")
		require.Contains(t, home, "Cargar pedidos")
		require.Contains(t, v.read("/panel/cuenta").Text, "Personal del operador: Recepción")

		c := counterOf(t, s, tenant)
		failed := c.received()
		c.move(failed, "assign", map[string]any{"rider_id": tenant.Riders[0].ID})
		c.move(failed, "attempt", map[string]any{"reason": "absent"})
		scan := url.Values{"codigo": {failed.code}}
		require.NotContains(t, v.post("/panel/recepcion", scan).Text, "/decidir", "dispatch decides")
		require.Contains(t, c.post("/panel/recepcion", scan).Text, "/decidir")

		refused := v.get("/panel/claves")
		require.Equal(t, http.StatusForbidden, refused.Status)
		require.Contains(t, refused.Text, "Su usuario no tiene permiso de Configuración.")
	})
}

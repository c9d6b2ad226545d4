package panel_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/panel"
	"despacho/models"
	"despacho/test/apptest"
)

// forStores are the routes that a store's people may use; everything else is the operator's.
var forStores = map[string]bool{
	"GET /panel": true, "GET /panel/hoy": true, "GET /panel/teclas": true, "GET /panel/cuenta": true, "POST /panel/cuenta": true, "GET /panel/resumen": true,
	"GET /panel/pedidos": true, "GET /panel/pedidos/:id": true, "POST /panel/pedidos/:id/cancelar": true, "POST /panel/pedidos/:id/decidir": true, "GET /panel/etiquetas": true,
	"GET /panel/pedidos/nuevo": true, "POST /panel/pedidos/nuevo": true, "GET /panel/pedidos/tarifa": true, "GET /panel/ubicaciones": true, "GET /panel/destinos": true,
	"GET /panel/carga": true, "POST /panel/carga": true, "GET /panel/carga/plantilla.csv": true, "GET /panel/carga/crear": true, "GET /panel/carga/columnas": true, "POST /panel/carga/columnas": true, "GET /panel/carga/revisar": true, "POST /panel/carga/revisar": true,
	"POST /panel/carga/crear": true, "POST /panel/carga/resumen": true, "POST /panel/carga/resultado.csv": true, "POST /panel/carga/errores.csv": true,
	"GET /panel/webhooks": true, "POST /panel/webhooks": true, "GET /panel/webhooks/:id": true, "POST /panel/webhooks/:id/probar": true,
	"POST /panel/webhooks/:id/cambiar": true, "POST /panel/webhooks/:id/pausar": true, "POST /panel/webhooks/:id/reanudar": true,
	"POST /panel/webhooks/:id/rotar": true, "POST /panel/webhooks/:id/desactivar": true, "POST /panel/webhooks/:id/reenviar": true,
	"GET /panel/pedidos/:id/corregir": true, "POST /panel/pedidos/:id/corregir": true,
	"GET /panel/pedidos/cancelar": true, "POST /panel/pedidos/cancelar": true,
	"GET /panel/liquidaciones": true, "GET /panel/liquidaciones/:id": true, "GET /panel/liquidaciones/:id/pedidos.csv": true,
	"POST /panel/envios/:id/reenviar":  true,
	"GET /panel/pedidos.csv":           true,
	"GET /panel/cuenta/segundo-factor": true, "GET /panel/cuenta/segundo-factor/confirmar": true, "POST /panel/cuenta/segundo-factor": true,
	"POST /panel/cuenta/segundo-factor/confirmar": true, "POST /panel/cuenta/segundo-factor/quitar": true,
}

// Every route of the panel is tried by everybody. Routes come from the route table: a new one is
// the operator's unless it is named here.
func TestRoutes_permissions(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		people := map[string]*visitor{
			"administrator": getAs(t, s, tenant, &models.User{Admin: true}), "operator": visit(t, s, tenant, nil), "store": visit(t, s, tenant, &tenant.StoreA),
		}
		suspended := getAs(t, s, s.NewTenant(t, func(o *models.Operator) { o.SuspendedAt = &o.CreatedAt }), &models.User{Admin: true})
		tried := map[string]bool{}
		for _, route := range panel.New(panel.Options{Config: s.Config, DB: s.App.DB, Orders: s.App.Orders}).Routes() {
			name := route.Method + " " + route.Path
			tried[name] = true
			path := strings.ReplaceAll(route.Path, ":id", uuid.NewString())
			for who, may := range map[string]bool{
				"administrator": true, "operator": !route.Needs.AdminOnly, "store": forStores[name],
			} {
				answer := people[who].get
				if route.Method == http.MethodPost {
					answer = func(path string) *page { return people[who].post(path, nil) }
				}
				require.Equal(t, may, answer(path).Status != http.StatusForbidden, "%s: %s", who, name)
			}
			if route.Needs.Writes {
				require.Equal(t, http.StatusForbidden, suspended.post(path, nil).Status, "suspended: %s", name)
			}
		}
		for route := range forStores {
			require.True(t, tried[route], route)
		}
	})
}

package panel_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/panel"
	"despacho/models"
	"despacho/test/apptest"
)

// endSessions ends the sessions of a tenant's users, as time does.
func endSessions(t *testing.T, s *apptest.Service, tenant *apptest.Tenant) {
	t.Helper()
	_, err := s.App.DB.SQL().ExecContext(t.Context(), "DELETE FROM sessions WHERE user_id IN (SELECT id FROM users WHERE operator_id = '"+tenant.Operator.ID.String()+"')")
	require.NoError(t, err)
}

// Without scripts a form whose session has ended is lost, and says so: the sign-in leads back to
// its page, and nothing was done. Whoever opens a page without a session is told why there is a
// sign-in.
func TestSession_aFormWithoutItsSessionSaysSo(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		user := models.User{}
		v := getAs(t, s, tenant, &user)
		endSessions(t, s, tenant)
		asked := v.post("/panel/tiendas", url.Values{"name": {"Zapatería Lux"}})
		require.Equal(t, http.StatusUnauthorized, asked.Status)
		require.Contains(t, asked.words(), "Su sesión terminó y el formulario no se envió.")
		require.NotContains(t, asked.Text, "Zapatería Lux")
		signIn := asked.fieldsOf(t, "/panel/ingreso")
		signIn.Set("email", user.Email)
		signIn.Set("password", apptest.Password)
		require.NotContains(t, v.submit("/panel/ingreso", signIn).words(), "Zapatería Lux")

		endSessions(t, s, tenant)
		request, err := http.NewRequest(http.MethodPost, v.base+"/panel/tiendas", nil)
		require.NoError(t, err)
		request.Header.Set("Sec-Fetch-Site", "cross-site")
		require.Equal(t, http.StatusSeeOther, signedOut(t, s).do(request).Status)
		opened := v.read(v.get("/panel/tiendas").Location)
		require.Contains(t, opened.words(), "Si ya había ingresado, su sesión terminó.")
		require.NotContains(t, v.read("/panel/ingreso").words(), "su sesión terminó")
	})
}

// Whoever signs in again comes to the page that the lost form was on.
func TestSession_leadsBackToThePageOfTheForm(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		v := getAs(t, s, tenant, &models.User{Admin: true})
		endSessions(t, s, tenant)
		id := uuid.NewString()
		for action, page := range map[string]string{
			"/panel/tiendas?x=1":                 "/panel/tiendas?x=1",
			"/panel/usuarios/" + id + "/enlace":  "/panel/usuarios/" + id,
			"/panel/claves/" + id + "/revocar":   "/panel/claves",
			"/panel/cobertura/" + id + "/quitar": "/panel/cobertura",
			"/panel/ajustes/logo/quitar":         "/panel/ajustes",
			"/panel/envios/" + id + "/reenviar":  "/panel/hoy",
		} {
			require.Equal(t, page, v.post(action, url.Values{"a": {"b"}}).fieldsOf(t, "/panel/ingreso").Get("siguiente"), action)
		}
	})
}

// Whoever asked for a file comes to its page, with its filter: a download leaves the browser on the
// page that it is on. No link has the download attribute, with which the browser would save the
// sign-in page under the name of the file.
func TestSession_leadsBackToThePageOfAFile(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		settlement := "/panel/liquidaciones/" + uuid.Nil.String()
		pages := map[string]string{
			"/panel/pedidos.csv?estado=received&q=Ana+D%C3%ADaz": "/panel/pedidos?estado=received&q=Ana+D%C3%ADaz",
			"/panel/asignacion.csv?distrito=x":                   "/panel/asignacion?distrito=x",
			"/panel/actividad.csv?accion=sign_in":                "/panel/actividad?accion=sign_in",
			"/panel/cobertura.csv":                               "/panel/cobertura",
			settlement + "/pedidos.csv":                          settlement,
			"/panel/carga/plantilla.csv?separador=coma":          "/panel/carga?separador=coma",
		}
		for _, route := range panel.New(panel.Options{Config: s.Config, DB: s.App.DB, Orders: s.App.Orders}).Routes() {
			if route.Method == http.MethodGet && strings.HasSuffix(route.Path, ".csv") {
				require.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(pages)), func(file string) bool {
					return strings.HasPrefix(file, strings.Replace(route.Path, ":id", uuid.Nil.String(), 1))
				}), route.Path)
			}
		}
		for file, page := range pages {
			require.Equal(t, "/panel/ingreso?siguiente="+url.QueryEscape(page), signedOut(t, s).get(file).Location)
		}

		row := tenant.Row(s.App.Clock().Now())
		row.Status = models.StatusReceived
		tenant.InsertRows(t, []models.Order{row})
		v := getAs(t, s, tenant, &models.User{Admin: true})
		for _, path := range []string{"/panel/pedidos", "/panel/asignacion", "/panel/actividad", "/panel/cobertura", "/panel/cobertura/carga", "/panel/carga"} {
			shown := v.read(path).Text
			require.Regexp(t, `href="/panel/[a-z/]+\.csv[^>]*>`, shown, path)
			require.NotRegexp(t, `href="/panel/[a-z/]+\.csv[^>]*download`, shown, path)
		}
	})
}

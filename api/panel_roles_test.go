package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
	"despacho/test/apptest"
)

// forStores is what a store's user may use; everything else of the panel is the operator's.
var forStores = []string{
	"GET /session", "DELETE /session", "POST /session/password",
	"POST /session/second-factor", "POST /session/second-factor/confirm", "POST /session/second-factor/remove",
	"GET /orders", "POST /orders", "GET /orders/:id", "PATCH /orders/:id", "POST /orders/:id/cancel", "POST /orders/:id/decision",
	"GET /webhooks", "POST /webhooks", "PATCH /webhooks/:id", "GET /webhooks/:id/health", "DELETE /webhooks/:id", "POST /webhooks/:id/rotate", "POST /webhooks/:id/test", "POST /webhooks/:id/redeliver",
	"GET /deliveries", "GET /deliveries/:id", "POST /deliveries/:id/redeliver",
}

// reads is what every user of the operator may do.
var reads = []string{
	"GET /session", "DELETE /session", "POST /session/password",
	"POST /session/second-factor", "POST /session/second-factor/confirm", "POST /session/second-factor/remove",
	"GET /orders", "GET /orders/:id",
	"GET /stores", "GET /riders", "GET /branches", "GET /sizes", "GET /coverage", "GET /store-prices", "GET /risk-zones", "GET /settings",
}

// opens is what each grant lets a user of the operator do besides.
var opens = map[models.Grant][]string{
	models.GrantCounter: {"POST /orders", "POST /orders/:id/receive", "POST /orders/:id/hand-back"},
	models.GrantDispatch: {
		"POST /orders", "POST /orders/:id/assign", "POST /orders/:id/deliver", "POST /orders/:id/attempt", "POST /orders/:id/decision",
		"POST /orders/:id/undo", "POST /orders/:id/cancel", "PATCH /orders/:id", "PATCH /orders/:id/point",
		"POST /riders/:id/link", "DELETE /riders/:id/device",
	},
	models.GrantCash: {"POST /orders/:id/delivery-correction"},
	models.GrantSettings: {
		"GET /keys", "POST /keys", "DELETE /keys/:id",
		"GET /webhooks", "POST /webhooks", "PATCH /webhooks/:id", "DELETE /webhooks/:id", "GET /webhooks/:id/health",
		"POST /webhooks/:id/rotate", "POST /webhooks/:id/test", "POST /webhooks/:id/redeliver",
		"GET /deliveries", "GET /deliveries/:id", "POST /deliveries/:id/redeliver",
		"POST /stores", "PATCH /stores/:id", "POST /riders", "PATCH /riders/:id", "POST /branches", "PATCH /branches/:id",
		"POST /sizes", "PATCH /sizes/:id", "POST /coverage", "PATCH /coverage/:id", "DELETE /coverage/:id",
		"POST /store-prices", "PATCH /store-prices/:id", "DELETE /store-prices/:id",
		"POST /risk-zones", "PATCH /risk-zones/:id", "PATCH /settings", "POST /settings/logo", "DELETE /settings/logo",
	},
}

// administration is what only administrators may do.
var administration = []string{
	"GET /users", "POST /users", "PATCH /users/:id", "POST /users/:id/password", "POST /users/:id/reset", "DELETE /users/:id/second-factor",
	"GET /audit", "POST /orders/:id/erase", "POST /erasures",
}

// whileSuspended is what protects accounts and keys, which a suspended operator's users may do.
var whileSuspended = []string{
	"POST /session/password", "POST /session/second-factor", "POST /session/second-factor/confirm", "POST /session/second-factor/remove",
	"DELETE /keys/:id", "DELETE /riders/:id/device", "POST /users/:id/password", "POST /users/:id/reset", "DELETE /users/:id/second-factor",
}

// panelRoutes are the routes of the panel that need a session, as the router has them: one that is
// added is tested.
func panelRoutes(t *testing.T) []string {
	t.Helper()
	var routes []string
	for _, route := range newServer(t).Routes() {
		if path, ofPanel := strings.CutPrefix(route.Path, "/panel/api"); ofPanel && route.Method+path != "POST/session" && route.Method+path != "POST/session/reset" {
			routes = append(routes, route.Method+" "+path)
		}
	}
	require.Greater(t, len(routes), 40)
	for _, route := range slices.Concat(forStores, whileSuspended, reads, administration) {
		require.Contains(t, routes, route)
	}
	known := slices.Concat(reads, administration)
	for _, opened := range opens {
		require.Subset(t, routes, opened)
		known = append(known, opened...)
	}
	require.Subset(t, known, routes, "a route needs a permission, and the tables say which")
	return routes
}

func callPanel(t *testing.T, s *apptest.Service, token, route string) *apptest.Answer {
	t.Helper()
	method, path, _ := strings.Cut(route, " ")
	return desk{t, s, token}.send(method, strings.ReplaceAll(path, ":id", uuid.NewString()), nil)
}

// Every route of the panel with every role: a role without the permission is refused before the
// request is read.
func TestPanelRoles(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		routes := panelRoutes(t)
		tenant, halted := s.NewTenant(t), s.NewTenant(t, suspended)
		admin, operator, seller := tenant.SignInAs(t, &models.User{Admin: true}), tenant.SignIn(t, nil), tenant.SignIn(t, &tenant.StoreA)
		haltedAdmin, haltedSeller := halted.SignInAs(t, &models.User{Admin: true}), halted.SignIn(t, &halted.StoreA)
		for _, route := range routes {
			if route == "DELETE /session" {
				continue // it would end the session that the other routes are tested with
			}
			writes := !strings.HasPrefix(route, http.MethodGet)
			requireRefused(t, callPanel(t, s, "", route), http.StatusUnauthorized, "no_session")
			for name, c := range map[string]struct {
				token     string
				suspended bool
				may       bool
			}{
				"administrator":           {admin, false, true},
				"operator":                {operator, false, !slices.Contains(administration, route)},
				"store":                   {seller, false, slices.Contains(forStores, route)},
				"suspended administrator": {haltedAdmin, true, true},
				"suspended store":         {haltedSeller, true, slices.Contains(forStores, route)},
			} {
				answer := callPanel(t, s, c.token, route)
				switch {
				case !c.may:
					requireRefused(t, answer, http.StatusForbidden, "role_not_allowed")
				case c.suspended && writes && !slices.Contains(whileSuspended, route):
					requireRefused(t, answer, http.StatusForbidden, "operator_suspended")
				default:
					require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, answer.Status, "%s: %s: %s", name, route, answer.Text)
					require.Less(t, answer.Status, 500, "%s: %s", name, route)
				}
			}
		}
		for _, token := range []string{haltedAdmin, seller} {
			require.Equal(t, http.StatusOK, desk{t, s, token}.delete("/session").Status, "everybody may leave")
		}
	})
}

// Every route of the panel with every grant alone, and with none.
func TestPanelRoles_grants(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		routes, tenant := panelRoutes(t), s.NewTenant(t)
		tokens := map[models.Grant]string{"": tenant.SignInWith(t)}
		for _, grant := range models.Grants {
			tokens[grant] = tenant.SignInWith(t, grant)
		}
		for grant, token := range tokens {
			for _, route := range routes {
				if route == "DELETE /session" {
					continue
				}
				answer := callPanel(t, s, token, route)
				if !slices.Contains(reads, route) && !slices.Contains(opens[grant], route) {
					requireRefused(t, answer, http.StatusForbidden, "role_not_allowed")
					require.NotContains(t, answer.Error, "para esta acción", "%q: %s: it says what is missing", grant, route)
					continue
				}
				require.NotEqual(t, http.StatusForbidden, answer.Status, "%q: %s: %s", grant, route, answer.Text)
				require.Less(t, answer.Status, 500, "%q: %s", grant, route)
			}
		}
	})
}

// Another operator's things are not there, and neither are another store's.
func TestPanelRoles_otherOperatorsAreNotFound(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		tenant, stranger := s.NewTenant(t), s.NewTenant(t)
		order := s.CreateOrder(t, tenant.KeyA)
		for _, token := range []string{tenant.SignIn(t, &tenant.StoreB), stranger.SignIn(t, nil), stranger.SignIn(t, &stranger.StoreA)} {
			d := desk{t, s, token}
			requireRefused(t, d.send(http.MethodGet, "/orders/"+order, nil), http.StatusNotFound, "order_not_found")
			requireRefused(t, d.post("/orders/"+order+"/cancel", nil), http.StatusNotFound, "order_not_found")
		}
	})
}

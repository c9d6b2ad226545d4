package attacks

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/config"
	"despacho/models"
	"despacho/test/apptest"
)

const riderCookie = "despacho_rider"

// isOfRiders tells the routes that are for the phones of riders.
func isOfRiders(path string) bool { return strings.HasPrefix(path, "/rider/") }

// withoutPIN are the routes that a phone needs no PIN for: it is made somebody's, and asks for the
// PIN.
var withoutPIN = map[string]bool{
	"POST /rider/api/activate": true, "POST /rider/api/session": true, "DELETE /rider/api/session": true,
}

// A rider's phone opens what is for riders, and nothing else: on every other route it is answered
// as somebody without any credential is, and nothing changes. Each request has an address of its
// own: those without a key are limited by it.
func TestRiders_phoneOpensNothingElse(t *testing.T) {
	apptest.EachOwn(t, apptest.Options{Configure: func(c *config.Config) { c.TrustedProxies = []string{"127.0.0.1"} }}, func(t *testing.T, s *apptest.Service) {
		v := newVictim(t, s)
		phone := v.ActivatePhone(t, v.Riders[1].ID)
		before, tried := v.state(t), 0
		for _, route := range routes(t) {
			if isOfRiders(route.Path) {
				continue
			}
			for _, id := range v.ids {
				path := strings.ReplaceAll(route.Path, ":id", id)
				from := fmt.Sprintf("203.0.%d.%d", tried/250, tried%250+1)
				rider, stranger := attacker{phone: phone, from: from}, attacker{from: from}
				as, text := rider.call(t, s, route.Method, path, bodyNaming(v.Tenant))
				expected, _ := stranger.call(t, s, route.Method, path, bodyNaming(v.Tenant))
				require.Equal(t, expected, as, "%s %s: %s", route.Method, path, text)
				v.requireHidden(t, route.Method+" "+path, text)
				tried++
				if !strings.Contains(route.Path, ":id") {
					break
				}
			}
		}
		require.Greater(t, tried, 500)
		require.Equal(t, before, v.state(t))
		require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/rider/api/session", Phone: phone}).Status)
	})
}

// Every route for riders, by everybody who is not a rider with a phone that may be used: keys,
// people of the panel, a phone that was never linked, one whose access was taken away, one that
// needs its PIN.
func TestRiders_everyRouteNeedsAPhone(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := newVictim(t, s)
		admin, revoked, locked := v.SignInAs(t, &models.User{Admin: true}), v.ActivatePhone(t, v.Riders[0].ID), v.ActivatePhone(t, v.Riders[1].ID)
		v.RevokePhone(t, v.Riders[0].ID)
		link := v.RiderLink(t, v.Riders[0].ID)
		require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: http.MethodDelete, Path: "/rider/api/session", Phone: locked}).Status)
		before, tried := v.state(t), 0
		for _, route := range routes(t) {
			if !isOfRiders(route.Path) || route.Path == "/rider/api/activate" {
				continue
			}
			what := route.Method + " " + route.Path
			for name, who := range map[string]struct {
				apptest.Request
				code string
			}{
				"nobody":                      {apptest.Request{}, "no_device"},
				"a key":                       {apptest.Request{Key: v.Key}, "no_device"},
				"an administrator":            {apptest.Request{Token: admin}, "no_device"},
				"an administrator's browser":  {apptest.Request{Header: map[string]string{"Cookie": "despacho_session=" + admin}}, "no_device"},
				"a session in its place":      {apptest.Request{Phone: admin}, "no_device"},
				"a link that was not used":    {apptest.Request{Phone: link}, "no_device"},
				"a phone without access":      {apptest.Request{Phone: revoked}, "device_revoked"},
				"a phone that asks for a PIN": {apptest.Request{Phone: locked}, "pin_required"},
			} {
				if who.code == "pin_required" && withoutPIN[what] {
					continue
				}
				request := who.Request
				request.Method, request.Path = route.Method, strings.ReplaceAll(route.Path, ":id", uuid.NewString())
				if route.Method != http.MethodGet {
					request.Body = bodyNaming(v.Tenant)
				}
				answer := s.Do(t, request)
				require.Equal(t, http.StatusUnauthorized, answer.Status, "%s: %s: %s", name, what, answer.Text)
				require.Equal(t, who.code, answer.Code, "%s: %s", name, what)
				v.requireHidden(t, what, answer.Text)
				tried++
			}
		}
		require.Greater(t, tried, 20)
		require.Equal(t, before, v.state(t))
	})
}

// While the operator is suspended its riders read, and nothing that they do is taken.
func TestRiders_ofASuspendedOperator(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		v := newVictim(t, s)
		phone := v.ActivatePhone(t, v.Riders[1].ID)
		v.Suspend(t)
		before := v.state(t)
		for _, route := range routes(t) {
			what := route.Method + " " + route.Path
			if !isOfRiders(route.Path) || withoutPIN[what] {
				continue
			}
			request := apptest.Request{Method: route.Method, Path: strings.ReplaceAll(route.Path, ":id", uuid.NewString()), Phone: phone}
			if route.Method == http.MethodGet {
				require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, s.Do(t, request).Status, what)
				continue
			}
			request.Body = bodyNaming(v.Tenant)
			refused := s.Do(t, request)
			require.Equal(t, http.StatusForbidden, refused.Status, "%s: %s", what, refused.Text)
			require.Equal(t, "operator_suspended", refused.Code, what)
		}
		require.Equal(t, before, v.state(t))
	})
}

package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// All endpoints are under /v1, the catalog outside it; what is not there is 404 without asking for
// a key.
func TestContract_9_unknownRoutes(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		for _, path := range []string{
			"/v1", "/v1/", "/v1/nada", "/v1/orders/", "/v1/orders/x/y", "/v1/orders/x/cancel/y", "/v2/orders", "/orders", "/public", "/public/nada",
			"/v1/public/countries", "/v1/track", "/V1/orders", "//v1/orders", "/v1/../v1/orders",
		} {
			for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
				answer := s.Do(t, apptest.Request{Method: method, Path: path})
				requireRefused(t, answer, http.StatusNotFound, "route_not_found")
			}
		}
	})
}

// A method that a route does not have is 405 with the envelope, and the ones it has are named.
func TestContract_9_unknownMethods(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		for _, c := range []struct{ method, path, allow string }{
			{"PUT", "/v1/orders", "GET, POST"}, {"DELETE", "/v1/orders/x", "GET, PATCH"}, {"POST", "/v1/orders/x/cancel", "PATCH"}, {"OPTIONS", "/v1/webhooks", "GET, POST"},
			{"PUT", "/v1/webhooks/x", "GET, PATCH, DELETE"}, {"POST", "/v1/track/x", "GET"}, {"POST", "/public/countries", "GET"}, {"PROPFIND", "/v1/stores", "GET"},
		} {
			answer := s.Do(t, apptest.Request{Method: c.method, Path: c.path})
			requireRefused(t, answer, http.StatusMethodNotAllowed, "method_not_allowed")
			require.Equal(t, c.allow, answer.Header.Get("Allow"), c.path)
		}
	})
}

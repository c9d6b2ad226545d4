package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// scopeOf is the scope that each route of /v1 needs; TestContract_5_5_everyRouteHasItsScope holds
// it to the router.
var scopeOf = map[string]models.Scope{
	"POST /v1/orders":                   models.ScopeWriteOrders,
	"GET /v1/orders":                    models.ScopeReadOrders,
	"GET /v1/orders/:id":                models.ScopeReadOrders,
	"PATCH /v1/orders/:id":              models.ScopeWriteOrders,
	"PATCH /v1/orders/:id/cancel":       models.ScopeWriteOrders,
	"POST /v1/orders/:id/decision":      models.ScopeWriteOrders,
	"GET /v1/events":                    models.ScopeReadOrders,
	"GET /v1/stores":                    models.ScopeReadStores,
	"GET /v1/settlements":               models.ScopeReadSettlements,
	"GET /v1/settlements/:id":           models.ScopeReadSettlements,
	"GET /v1/balance":                   models.ScopeReadSettlements,
	"GET /v1/webhooks":                  models.ScopeManageWebhooks,
	"POST /v1/webhooks":                 models.ScopeManageWebhooks,
	"GET /v1/webhooks/:id":              models.ScopeManageWebhooks,
	"PATCH /v1/webhooks/:id":            models.ScopeManageWebhooks,
	"DELETE /v1/webhooks/:id":           models.ScopeManageWebhooks,
	"GET /v1/webhooks/:id/health":       models.ScopeManageWebhooks,
	"POST /v1/webhooks/:id/rotate":      models.ScopeManageWebhooks,
	"POST /v1/webhooks/:id/test":        models.ScopeManageWebhooks,
	"POST /v1/webhooks/:id/redeliver":   models.ScopeManageWebhooks,
	"GET /v1/deliveries":                models.ScopeManageWebhooks,
	"GET /v1/deliveries/:id":            models.ScopeManageWebhooks,
	"POST /v1/deliveries/:id/redeliver": models.ScopeManageWebhooks,
	"POST /v1/test/orders/:id/advance":  models.ScopeWriteOrders,
}

type apiRoute struct {
	method, path string
	scope        models.Scope
}

// apiRoutes is every route of /v1 that needs a key, with the scope it needs.
var apiRoutes = func() []apiRoute {
	var routes []apiRoute
	for route, scope := range scopeOf {
		method, path, _ := strings.Cut(route, " ")
		routes = append(routes, apiRoute{method, strings.ReplaceAll(path, ":id", "54c51d2b-049b-53b9-93ac-fa910f68ea0d"), scope})
	}
	return routes
}()

// A route of /v1 that is added is tested with the others; only tracking needs no key.
func TestContract_5_5_everyRouteHasItsScope(t *testing.T) {
	t.Parallel()
	var routes []string
	for _, route := range newServer(t).Routes() {
		if strings.HasPrefix(route.Path, "/v1/") && route.Path != "/v1/track/:guide_code" {
			routes = append(routes, route.Method+" "+route.Path)
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(scopeOf)), routes)
}

func suspended(o *models.Operator) { since := apptest.FrozenAt; o.SuspendedAt = &since }

// 5.1: a missing, invalid, revoked or expired key is 401, on every route, and the answer does not
// tell which.
func TestContract_5_1_key(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		past, now, later := apptest.FrozenAt.Add(-time.Hour), apptest.FrozenAt, apptest.FrozenAt.Add(time.Microsecond)
		require.Equal(t, http.StatusOK, get(t, s, tenant.NewKey(t, models.APIKey{ExpiresAt: &later}), "/v1/stores").Status, "not expired yet")

		for name, key := range map[string]string{
			"missing":             "",
			"invalid":             "dsp_live_00000000000000000000000000000000",
			"not a key":           "hola",
			"cut off":             tenant.Key[:len(tenant.Key)-1],
			"in another case":     strings.ToLower(tenant.Key),
			"very long":           strings.Repeat("x", 10000),
			"revoked":             tenant.NewKey(t, models.APIKey{RevokedAt: &past}),
			"expired":             tenant.NewKey(t, models.APIKey{ExpiresAt: &past}),
			"expires this moment": tenant.NewKey(t, models.APIKey{ExpiresAt: &now}),
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				address := ownAddress()
				for _, route := range apiRoutes {
					answer := s.Do(t, apptest.Request{Method: route.method, Path: route.path, Key: key, Header: address})
					requireRefused(t, answer, http.StatusUnauthorized, "invalid_api_key")
					require.Empty(t, answer.Header.Get("RateLimit"), "RateLimit is only for a valid key")
				}
			})
		}
	})
}

// 5.1: revocation takes effect immediately.
func TestContract_5_1_revokedKey(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		require.Equal(t, http.StatusOK, get(t, s, tenant.KeyA, "/v1/stores").Status)
		tenant.RevokeKey(t, tenant.KeyA)
		answer := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/stores", Key: tenant.KeyA, Header: ownAddress()})
		requireRefused(t, answer, http.StatusUnauthorized, "invalid_api_key")
		require.Equal(t, http.StatusOK, get(t, s, tenant.KeyB, "/v1/stores").Status, "the others go on")
	})
}

// 5.2: a key has a fixed live prefix and a random string, and only its hash is kept.
func TestContract_5_2_keyFormat(t *testing.T) {
	t.Parallel()
	key, err := credentials.NewAPIKey(credentials.LiveKeyPrefix)
	require.NoError(t, err)
	require.Regexp(t, `^dsp_live_[0-9A-Za-z]{32}$`, key)
	require.NotContains(t, string(credentials.Hash(key)), key[len("dsp_live_"):])
}

// 5.3: the plan must be Pro or higher and the operator not suspended, else every request answers
// 403 and says which.
func TestContract_5_3_planAndSuspension(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		for name, c := range map[string]struct {
			operator []func(*models.Operator)
			code     string
			says     string
		}{
			"basic plan":           {[]func(*models.Operator){apptest.OnPlan(models.PlanBasic)}, "plan_without_api", "plan"},
			"suspended":            {[]func(*models.Operator){suspended}, "operator_suspended", "suspendido"},
			"suspended and basic":  {[]func(*models.Operator){suspended, apptest.OnPlan(models.PlanBasic)}, "operator_suspended", "suspendido"},
			"suspended on its Pro": {[]func(*models.Operator){suspended, apptest.OnPlan(models.PlanPro)}, "operator_suspended", "suspendido"},
		} {
			tenant := s.NewTenant(t, c.operator...)
			for _, route := range apiRoutes {
				answer := s.Do(t, apptest.Request{Method: route.method, Path: route.path, Key: tenant.Key})
				requireRefused(t, answer, http.StatusForbidden, c.code)
				require.Contains(t, answer.Error, c.says, name)
			}
			require.Zero(t, countOrders(t, s, tenant))
		}
		require.Equal(t, http.StatusOK, get(t, s, s.NewTenant(t, apptest.OnPlan(models.PlanPro)).Key, "/v1/stores").Status)
	})
}

// 5.3: a change of the plan and a suspension take effect immediately, and so does their end.
func TestContract_5_3_planChangeTakesEffectImmediately(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, step := range []struct {
			change func()
			status int
		}{
			{func() { tenant.Suspend(t) }, http.StatusForbidden},
			{func() { tenant.Resume(t) }, http.StatusOK},
			{func() { tenant.SetPlan(t, models.PlanBasic) }, http.StatusForbidden},
			{func() { tenant.SetPlan(t, models.PlanPro) }, http.StatusOK},
		} {
			step.change()
			require.Equal(t, step.status, get(t, s, tenant.Key, "/v1/stores").Status)
		}
	})
}

// 5.4 and 5.5: each route needs its scope; without it the answer is 403 and names the missing one.
func TestContract_5_5_scopes(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		for _, held := range models.Scopes {
			key := tenant.NewKey(t, models.APIKey{}, held)
			for _, route := range apiRoutes {
				answer := s.Do(t, apptest.Request{Method: route.method, Path: route.path, Key: key})
				if route.scope == held {
					// A live key with the scope is refused by test mode's own route for being live.
					require.Equal(t, strings.HasPrefix(route.path, "/v1/test/"), answer.Status == http.StatusForbidden, "%s %s", route.method, route.path)
					require.NotEqual(t, "missing_scope", answer.Code, "%s %s", route.method, route.path)
					continue
				}
				requireRefused(t, answer, http.StatusForbidden, "missing_scope")
				require.Contains(t, answer.Error, string(route.scope))
				require.NotEmpty(t, answer.Header.Get("RateLimit"), "RateLimit is there for a valid key")
			}
		}
	})
}

// The order of checks: key 401 → suspended, plan 403 → rate 429 → scope 403 → body.
func TestContract_5_orderOfChecks(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		blocked := s.NewTenant(t, suspended)
		tenant := s.NewTenant(t, apptest.OnPlan(models.PlanPro))
		readOnly := tenant.NewKey(t, models.APIKey{}, models.ScopeReadOrders)
		usedUp := tenant.NewKey(t, models.APIKey{}, models.ScopeReadOrders)
		exhaustRate(t, s, usedUp, 100)
		past := apptest.FrozenAt.Add(-time.Hour)
		for name, c := range map[string]struct {
			key    string
			status int
		}{
			"an expired key of a suspended operator": {blocked.NewKey(t, models.APIKey{ExpiresAt: &past}), http.StatusUnauthorized},
			"suspended, without the scope":           {blocked.NewKey(t, models.APIKey{}, models.ScopeReadOrders), http.StatusForbidden},
			"used up, without the scope":             {usedUp, http.StatusTooManyRequests},
			"without the scope, unparseable body":    {readOnly, http.StatusForbidden},
			"unparseable body":                       {tenant.Key, http.StatusBadRequest},
		} {
			answer := s.Do(t, apptest.Request{
				Method: "POST", Path: "/v1/orders", Key: c.key, Raw: []byte(`{"product":`),
				Header: map[string]string{"X-Forwarded-For": ownAddress()["X-Forwarded-For"], "Idempotency-Key": ""},
			})
			require.Equal(t, c.status, answer.Status, "%s: %s", name, answer.Text)
		}
	})
}

// exhaustRate makes the key stand at so many requests in the standing clock's minute without
// sending them.
func exhaustRate(t *testing.T, s *apptest.Service, key string, requests int) {
	t.Helper()
	holder, _, err := s.App.DB.Authenticate(t.Context(), credentials.Hash(key), apptest.FrozenAt, uuid.Nil)
	require.NoError(t, err)
	for used := holder.Used; used < requests; {
		used, err = s.App.DB.CountRequest(t.Context(), holder.Key.ID.String(), apptest.FrozenAt)
		require.NoError(t, err)
	}
}

// 5.8: tracking and catalog need no authentication, and do not look at a key that comes along.
func TestContract_5_8_publicRoutesWithoutKey(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t, suspended)
		code := created(t, s, s.NewTenant(t).Key).String("guide_code")
		for _, path := range []string{"/v1/track/" + code, "/public/countries", "/public/locations?country_code=PE&q=lima"} {
			for _, key := range []string{"", "hola", tenant.Key} {
				require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: "GET", Path: path, Key: key, Header: ownAddress()}).Status)
			}
		}
	})
}

// Failed authentication is limited to 60 a minute for each client address; a good key still works
// from there.
func TestContract_5_failuresPerAddress(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		address := ownAddress()
		guess := func(i int) apptest.Request {
			return apptest.Request{Method: "GET", Path: "/v1/orders", Key: fmt.Sprintf("dsp_live_%032d", i), Header: address}
		}
		require.Equal(t, map[int]int{http.StatusUnauthorized: 60, http.StatusTooManyRequests: 10}, inParallel(t, 70, guess, s))
		limited := s.Do(t, guess(0))
		requireRefused(t, limited, http.StatusTooManyRequests, "too_many_requests")
		require.Equal(t, "30", limited.Header.Get("Retry-After"))
		missing := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders", Header: address})
		require.Equal(t, http.StatusTooManyRequests, missing.Status, "a missing key is a failed one")

		good := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders", Key: tenant.Key, Header: address})
		require.Equal(t, http.StatusOK, good.Status)
		elsewhere := s.Do(t, apptest.Request{Method: "GET", Path: "/v1/orders", Key: uuid.NewString(), Header: ownAddress()})
		require.Equal(t, http.StatusUnauthorized, elsewhere.Status)
	})
}

// Without a trusted proxy, X-Forwarded-For is ignored: it does not change the client's address.
func TestContract_5_forwardedForIgnored(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		s := apptest.Boot(t, databaseURL, apptest.Options{Clock: clock.NewManual(apptest.FrozenAt), NoWorker: true})
		require.Equal(t, map[int]int{http.StatusUnauthorized: 60, http.StatusTooManyRequests: 10}, inParallel(t, 70, func(int) apptest.Request {
			return apptest.Request{Method: "GET", Path: "/v1/orders", Key: "hola", Header: ownAddress()}
		}, s))
	})
}

package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
	"despacho/models"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// Per API key and clock minute, exact however many processes run against one database: of 300
// parallel requests to two of them a Pro key gets exactly 100 through. The next clock minute it is
// let through again.
func TestContract_8_exactAcrossProcesses(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		manual := clock.NewManual(apptest.FrozenAt)
		processes := []*apptest.Service{
			apptest.Boot(t, databaseURL, apptest.Options{Clock: manual, NoWorker: true}),
			apptest.Boot(t, databaseURL, apptest.Options{Clock: manual, NoWorker: true}),
		}
		tenant := processes[0].NewTenant(t, apptest.OnPlan(models.PlanPro))
		require.Equal(t, map[int]int{http.StatusOK: 100, http.StatusTooManyRequests: 200}, statuses(allAtOnce(t, 300, func(i int) (*apptest.Answer, error) {
			return processes[i%2].Try(apptest.Request{Method: "GET", Path: "/v1/stores", Key: tenant.Key})
		})))
		require.Equal(t, http.StatusOK, get(t, processes[0], tenant.KeyA, "/v1/stores").Status, "every key counts for itself")

		manual.Advance(30*time.Second - time.Microsecond)
		limited := get(t, processes[1], tenant.Key, "/v1/stores")
		requireRefused(t, limited, http.StatusTooManyRequests, "rate_limited")
		require.Equal(t, "1", limited.Header.Get("Retry-After"), "never zero")
		manual.Advance(time.Microsecond)
		for _, process := range processes {
			require.Equal(t, http.StatusOK, get(t, process, tenant.Key, "/v1/stores").Status, "a new clock minute")
		}
		require.Equal(t, `"minute";r=97;t=60`, get(t, processes[0], tenant.Key, "/v1/stores").Header.Get("RateLimit"))
	})
}

// RateLimit-Policy and RateLimit on every answer to a valid key, Retry-After on 429.
func TestContract_8_headers(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		for plan, limit := range map[models.Plan]int{models.PlanPro: 100, models.PlanBusiness: 1000} {
			tenant := s.NewTenant(t, apptest.OnPlan(plan))
			policy := fmt.Sprintf(`"minute";q=%d;w=60`, limit)
			left := func(requests int) string { return fmt.Sprintf(`"minute";r=%d;t=30`, requests) }

			first := get(t, s, tenant.Key, "/v1/orders/x")
			require.Equal(t, http.StatusNotFound, first.Status)
			require.Equal(t, policy, first.Header.Get("RateLimit-Policy"))
			require.Equal(t, left(limit-1), first.Header.Get("RateLimit"))
			require.Empty(t, first.Header.Get("Retry-After"))

			exhaustRate(t, s, tenant.Key, limit-1)
			last := get(t, s, tenant.Key, "/v1/stores")
			require.Equal(t, http.StatusOK, last.Status, "the last one of the minute")
			require.Equal(t, left(0), last.Header.Get("RateLimit"))

			limited := get(t, s, tenant.Key, "/v1/stores")
			requireRefused(t, limited, http.StatusTooManyRequests, "rate_limited")
			require.Equal(t, "30", limited.Header.Get("Retry-After"))
			require.Equal(t, policy, limited.Header.Get("RateLimit-Policy"))
			require.Equal(t, left(0), limited.Header.Get("RateLimit"))
			requireRefused(t, postOrder(t, s, tenant.Key), http.StatusTooManyRequests, "rate_limited")
			require.Zero(t, countOrders(t, s, tenant))
		}
	})
}

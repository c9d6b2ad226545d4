package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// A HEAD is answered with the status and the headers of the GET, and without a body.
func TestRequestLine_head(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		order := "/v1/orders/" + s.CreateOrder(t, tenant.Key)
		for path, status := range map[string]int{
			"/healthz": 200, "/readyz": 200, "/": 200, "/public/countries": 200, "/openapi.yaml": 200, order: 200, "/v1/orders": 200,
			"/v1/orders/x": 404, "/v1/nothing": 404, "/v1/webhooks/x": 404, "/v1/test/orders/x/advance": 405,
		} {
			read := apptest.Request{Method: http.MethodGet, Path: path, Key: tenant.Key}
			get := s.Do(t, read)
			read.Method = http.MethodHead
			head, err := s.Try(read)
			require.NoError(t, err, path)
			require.Equal(t, status, head.Status, path)
			require.Equal(t, get.Status, head.Status, path)
			require.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"), path)
			require.Empty(t, head.Text, path)
		}
	})
}

// A semicolon and a percent sign that encodes nothing belong to the value of a parameter: a filter
// is never left out.
func TestRequestLine_query(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.Key)
		for external, query := range map[string]string{
			"PED;17": "external_id=PED;17", "50%": "limit=5&external_id=50%", "5%zz;é%": "external_id=5%zz;%C3%A9%25&page=1",
		} {
			want := created(t, s, tenant.Key, map[string]any{"external_id": external}).Data["id"]
			ids, _ := listOrders(t, s, tenant.Key, "?"+query)
			require.Equal(t, []any{want}, ids, query)
		}
		for path, field := range map[string]string{
			"/v1/orders?status=nope%": "status", "/v1/orders?from_date=2026-01-01;": "from_date", "/v1/deliveries?status=failed%": "status",
			"/v1/events?wait=-1": "wait",
		} {
			requireWrongFields(t, s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: tenant.Key}), field)
		}
		require.Equal(t, http.StatusBadRequest, s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events?after=nada%", Key: tenant.Key}).Status)
	})
}

// More seconds than a feed request may wait are as many as it may.
func TestEvents_waitsNoLongerThanItMay(t *testing.T) {
	apptest.EachFrozenClock(t, func(t *testing.T, s *apptest.Service) {
		tenant := s.NewTenant(t)
		s.CreateOrder(t, tenant.Key)
		for _, wait := range []string{"65536", "4294967296"} {
			answer := s.Do(t, apptest.Request{Method: http.MethodGet, Path: "/v1/events?wait=" + wait, Key: tenant.Key})
			require.Equal(t, http.StatusOK, answer.Status, answer.Text)
		}
	})
}

package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// A HEAD is answered with the status and the headers of the GET, and without a body.
func TestHandler_head(t *testing.T) {
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

package clients

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// A call that is cancelled between two attempts says so, beside what the last attempt was answered.
func TestGo_cancelledBetweenAttempts(t *testing.T) {
	t.Parallel()
	service := &scripted{answers: []answer{{Status: http.StatusServiceUnavailable, Code: "service_unavailable"}}}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	o := languages["go"](t).call(t, server.URL, "dsp_live_test", "get_order_until_cancelled", map[string]any{"id": "019a8f3e-6c1d-7b42-9e55-3f0c2d7a1b68"})
	require.Empty(t, o.Other)
	require.Equal(t, map[string]any{"refused": true, "cancelled": true}, o.Result)
	require.Len(t, service.seen, 1)
}

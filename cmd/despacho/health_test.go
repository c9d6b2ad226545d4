package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/test/closedport"
)

func TestHealthCommand_asksTheProcessOnThisMachine(t *testing.T) {
	status := map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status[r.URL.Path]) }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	t.Setenv("HTTP_ADDR", "0.0.0.0:"+port)

	_, err = despacho(t, "", "health")
	require.NoError(t, err)
	_, err = despacho(t, "", "health", "--ready")
	require.ErrorContains(t, err, "/readyz answers 503")
	_, err = despacho(t, "", "health", "--admin")
	require.ErrorContains(t, err, "ADMIN_ADDR")
	t.Setenv("ADMIN_ADDR", server.Listener.Addr().String())
	_, err = despacho(t, "", "health", "--admin")
	require.ErrorContains(t, err, server.Listener.Addr().String()+"/readyz answers 503")
	_, err = despacho(t, "", "health", "--admin", "--ready")
	require.Error(t, err)

	t.Setenv("HTTP_ADDR", closedport.Address(t))
	_, err = despacho(t, "", "health")
	require.NoError(t, err, "a worker is well, which listens on ADMIN_ADDR alone")
	status["/healthz"] = http.StatusNotFound
	_, err = despacho(t, "", "health")
	require.ErrorContains(t, err, "connection refused", "an api that does not listen")
	t.Setenv("ADMIN_ADDR", "")
	_, err = despacho(t, "", "health")
	require.ErrorContains(t, err, "connection refused")
}

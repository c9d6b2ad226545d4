package clients

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A php.ini of earlier years has serialize_precision=17, with which PHP writes 89.9 as
// 89.900000000000006: an amount with too many decimals.
func TestPHP_amountsWithAnOldConfiguration(t *testing.T) {
	t.Parallel()
	r := startRunner(t, "php", "-d", "serialize_precision=17", "testdata/runner.php", client(t, "php", "Despacho.php"))
	service := &scripted{answers: []answer{{Status: 201}}}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	o := r.call(t, server.URL, "dsp_live_test", "create_order", map[string]any{"key": "venta-1", "order": map[string]any{"amount_to_collect": 89.9}})
	require.Empty(t, o.Other)
	require.Len(t, service.seen, 1)
	require.Contains(t, service.seen[0], `{"amount_to_collect":89.9}`)
}

// A php.ini may join the parameters of addresses with &amp;, for pages. A request joins them with
// an ampersand alone: otherwise the service would not see the second one.
func TestPHP_filtersWithAnOldConfiguration(t *testing.T) {
	t.Parallel()
	r := startRunner(t, "php", "-d", "arg_separator.output=&amp;", "testdata/runner.php", client(t, "php", "Despacho.php"))
	got := &recorder{answer: `{"data":{"orders":[],"total":0,"page":1,"limit":2}}`}
	server := httptest.NewServer(got)
	t.Cleanup(server.Close)
	o := r.call(t, server.URL, "dsp_live_test", "orders", map[string]any{"filter": map[string]any{"limit": 2, "status": "registered"}})
	require.Empty(t, o.Other)
	require.Len(t, got.requests, 1)
	require.Equal(t, url.Values{"limit": {"2"}, "status": {"registered"}, "page": {"1"}}, got.requests[0].URL.Query())
}

// A connection that is lost in the middle of an answer is a lost answer over HTTPS too, where PHP
// warns of it and a framework throws the warning: the order is asked for again.
func TestPHP_lostInTheMiddleOverHTTPS(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1) > 1 {
			answer{Status: http.StatusCreated}.write(w)
			return
		}
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"data":`)
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = connection.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0)
			_ = connection.(*tls.Conn).NetConn().Close()
		}
	}))
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	write(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	r := startRunner(t, "php", "-d", "openssl.cafile="+authority, "testdata/runner.php", client(t, "php", "Despacho.php"))

	o := r.call(t, server.URL, "dsp_live_test", "create_order", map[string]any{"key": "venta-1", "order": map[string]any{"product": "Zapatillas"}})

	require.Empty(t, o.Other)
	require.False(t, o.NoAnswer)
	require.Len(t, o.Waits, 1)
	require.EqualValues(t, 2, requests.Load())
}

package clients

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/test/testenv"
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

// A program that goes on with its objects while a call is under way changes nothing of the call:
// every attempt has the body of the first, and every page the filter that was given.
func TestTypeScript_argumentsChangedMeanwhile(t *testing.T) {
	t.Parallel()
	r := languages["typescript"](t)
	service := &scripted{answers: []answer{{Status: 0}, {Status: http.StatusCreated}}}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	order := map[string]any{"key": "venta-1", "order": map[string]any{"product": "Zapatillas"}}
	require.Empty(t, r.call(t, server.URL, "dsp_live_test", "create_order_changed_meanwhile", order).Other)
	require.Equal(t, []string{`{"product":"Zapatillas"}`, `{"product":"Zapatillas"}`}, service.bodies)

	got := &recorder{answer: `{"data":{"orders":[],"total":0,"page":1,"limit":2}}`}
	listing := httptest.NewServer(got)
	t.Cleanup(listing.Close)
	filter := map[string]any{"filter": map[string]any{"status": "registered"}}
	require.Empty(t, r.call(t, listing.URL, "dsp_live_test", "orders_changed_meanwhile", filter).Other)
	require.Len(t, got.requests, 1)
	require.Equal(t, "registered", got.requests[0].URL.Query().Get("status"))
}

// What a request may leave out is optional in TypeScript too, also where openapi.yaml says what it
// then is: a program that leaves it out compiles.
func TestTypeScript_optionalMembers(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	require.NoError(t, err)
	types, err := os.ReadFile(client(t, "typescript", "openapi.d.ts"))
	require.NoError(t, err)
	checked := 0
	for path, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			if !strings.HasPrefix(path, "/v1/") || operation.RequestBody == nil {
				continue
			}
			schema := operation.RequestBody.Value.Content["application/json"].Schema
			name := strings.TrimPrefix(schema.Ref, "#/components/schemas/")
			declared := regexp.MustCompile(`(?ms)^        ` + name + `: \{\n(.*?)^        \};`).FindSubmatch(types)
			require.NotNil(t, declared, name)
			for member := range schema.Value.Properties {
				text := member + "?: "
				if slices.Contains(schema.Value.Required, member) {
					text = member + ": "
				}
				require.Contains(t, string(declared[1]), " "+text, name)
				checked++
			}
		}
	}
	require.NotZero(t, checked)
}

// An error comes back from a process of a pool as it was raised there. One that cannot be made
// again breaks the pool, and every other task with it.
func TestPython_errorsOfAProcessPool(t *testing.T) {
	t.Parallel()
	python := testenv.Program(t, "python3")
	const program = `
import pickle, sys
sys.path.insert(0, sys.argv[1])
import despacho
raised = despacho.APIError(422, {"code": "not_covered", "error": "No.", "fields": [{"field": "location_id"}]}, "r-1", 3.0)
got = pickle.loads(pickle.dumps(raised))
assert type(got) is despacho.APIError and vars(got) == vars(raised) and str(got) == str(raised), vars(got)
assert str(pickle.loads(pickle.dumps(despacho.NoAnswerError("lost")))) == "lost"
`
	output, err := exec.Command(python, "-c", program, client(t, "python")).CombinedOutput()
	require.NoError(t, err, string(output))
}

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

package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/internal/clock"
	"despacho/internal/config"
	"despacho/internal/riderpage"
	"despacho/test/apptest"
)

// newServer makes a server that nothing stands behind: enough to ask it for its routes and its
// documents.
func newServer(t *testing.T) *api.Server {
	t.Helper()
	server, err := api.New(api.Options{
		Config: &config.Config{BaseURL: "https://despacho.example"}, Clock: clock.System(), Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return server
}

func TestOpenAPI_isValidWithItsExamples(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	require.NoError(t, err)
	require.NoError(t, document.Validate(context.Background(), openapi3.EnableExamplesValidation()))
}

var pathParameter = regexp.MustCompile(`:[^/]+|\{[^/]+\}`)

// Fails for an undocumented route, and for a documented one that does not exist.
func TestOpenAPI_documentsEveryRouteAndNoOther(t *testing.T) {
	t.Parallel()
	document, err := apptest.Document()
	require.NoError(t, err)
	var documented, served []string
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+pathParameter.ReplaceAllString(path, "{}"))
		}
	}
	for _, route := range newServer(t).Routes() {
		if isPanelPage(route.Path) || isRiderPage(route.Path) || slashed[route.Path] {
			continue
		}
		served = append(served, route.Method+" "+pathParameter.ReplaceAllString(route.Path, "{}"))
	}
	require.ElementsMatch(t, served, documented)
}

// slashed are pages that are also found with a slash after their address.
var slashed = map[string]bool{"/track/": true, "/track/:guide_code/": true}

// isPanelPage tells the panel's pages, which are for people, from its JSON API.
func isPanelPage(path string) bool {
	return strings.HasPrefix(path+"/", "/panel/") && !strings.HasPrefix(path, "/panel/api")
}

// isRiderPage tells the rider's app, which is for people, from its JSON API.
func isRiderPage(path string) bool { return strings.HasPrefix(path+"/", riderpage.Root+"/") }

// Every operation has what its reader and a client generator need.
func TestOpenAPI_operationsAreComplete(t *testing.T) {
	t.Parallel()
	document, err := apptest.Document()
	require.NoError(t, err)
	seen := map[string]bool{}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + path
			require.NotEmpty(t, operation.OperationID, name)
			require.False(t, seen[operation.OperationID], "%s: operationId %s twice", name, operation.OperationID)
			seen[operation.OperationID] = true
			require.NotEmpty(t, operation.Summary, name)
			require.NotEmpty(t, operation.Description, name)
			require.Len(t, operation.Tags, 1, name)
			require.NotNil(t, document.Tags.Get(operation.Tags[0]), name)
			for status, response := range operation.Responses.Map() {
				if status != "412" && status != "416" { // plain answers of the standard library
					require.Contains(t, response.Value.Headers, "X-Request-Id", "%s %s", name, status)
				}
			}
		}
	}
}

// What an operation may answer before its handler is asked is documented with each of them: 503
// where every slot is taken, and of a key or a session that it is not valid, may not or asks too
// often.
func TestOpenAPI_documentsWhatIsAnsweredBeforeTheHandler(t *testing.T) {
	t.Parallel()
	document, err := apptest.Document()
	require.NoError(t, err)
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			var want []string
			if path != "/healthz" {
				want = append(want, "503")
			}
			if security := operation.Security; security == nil || len(*security) > 0 {
				want = append(want, "401", "403", "429")
			}
			for _, status := range want {
				require.Contains(t, operation.Responses.Map(), status, "%s %s", method, path)
			}
		}
	}
}

func fetch(t *testing.T, handler http.Handler, path string, headers map[string]string) *http.Response {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, path, nil)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Result()
}

// Every document comes whole, compressed where the client takes it so, and not at all to a client
// that has it.
func TestDocuments_areServedWithAnETag(t *testing.T) {
	t.Parallel()
	handler := newServer(t).Handler()
	for path, contentType := range map[string]string{
		"/openapi.yaml": "application/yaml; charset=utf-8", "/docs": "text/html; charset=utf-8",
		"/docs/pedidos": "text/html; charset=utf-8", "/docs/style.css": "text/css; charset=utf-8",
		"/docs/script.js": "text/javascript; charset=utf-8", "/docs/search.json": "application/json; charset=utf-8", "/docs/postman.json": "application/json; charset=utf-8",
	} {
		plain := fetch(t, handler, path, nil)
		require.Equal(t, http.StatusOK, plain.StatusCode)
		require.Equal(t, contentType, plain.Header.Get("Content-Type"))
		require.Empty(t, plain.Header.Get("Content-Encoding"))
		content, err := io.ReadAll(plain.Body)
		require.NoError(t, err)

		packed := fetch(t, handler, path, map[string]string{"Accept-Encoding": "br;q=1.0, gzip;q=0.8"})
		require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
		require.Equal(t, "Accept-Encoding", packed.Header.Get("Vary"))
		reader, err := gzip.NewReader(packed.Body)
		require.NoError(t, err)
		unpacked, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, unpacked), path)

		for response, headers := range map[*http.Response]map[string]string{plain: {}, packed: {"Accept-Encoding": "gzip"}} {
			headers["If-None-Match"] = response.Header.Get("ETag")
			require.Equal(t, http.StatusNotModified, fetch(t, handler, path, headers).StatusCode)
		}
		require.NotEqual(t, plain.Header.Get("ETag"), packed.Header.Get("ETag"))
		for _, unwanted := range []string{"identity", "gzip;q=0", "gzip; q=0.000", "br"} {
			require.Empty(t, fetch(t, handler, path, map[string]string{"Accept-Encoding": unwanted}).Header.Get("Content-Encoding"), unwanted)
		}
	}
}

func TestOpenAPI_isServedAsItIs(t *testing.T) {
	t.Parallel()
	content, err := io.ReadAll(fetch(t, newServer(t).Handler(), "/openapi.yaml", nil).Body)
	require.NoError(t, err)
	require.True(t, bytes.Equal(api.OpenAPI(), content))
}

func TestDocs_usesTheBaseURLAndLoadsNothingElse(t *testing.T) {
	t.Parallel()
	response := fetch(t, newServer(t).Handler(), "/docs/pedidos", nil)
	require.Contains(t, response.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';")
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.True(t, bytes.Contains(content, []byte("https://despacho.example/v1/orders")))
}

func TestDocs_withASlashLeadsToTheFirstPage(t *testing.T) {
	t.Parallel()
	response := fetch(t, newServer(t).Handler(), "/docs/", nil)
	require.Equal(t, http.StatusMovedPermanently, response.StatusCode)
	require.Equal(t, "/docs", response.Header.Get("Location"))
}

// The service's own routes are held to the document like all others.
func TestOpenAPI_describesTheServicesOwnRoutes(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		for _, path := range []string{"/healthz", "/readyz", "/openapi.yaml", "/docs", "/docs/pedidos", "/docs/style.css", "/docs/script.js", "/docs/search.json"} {
			require.Equal(t, http.StatusOK, s.Do(t, apptest.Request{Method: "GET", Path: path}).Status, path)
		}
		for _, path := range []string{"/docs/nada", "/docs/pedidos%2F", "/docs/..%2Fdocs"} {
			requireError(t, s.Do(t, apptest.Request{Method: "GET", Path: path}), http.StatusNotFound, "route_not_found")
		}
	})
}

// What receivers get is what the document says: openapi.yaml describes every event's body, and
// nothing else is in it.
func TestOpenAPI_describesTheEvents(t *testing.T) {
	apptest.EachDatabase(t, func(t *testing.T, s *apptest.Service) {
		document, err := apptest.Document()
		require.NoError(t, err)
		tenant := s.NewTenant(t)
		receiver := apptest.NewReceiver(t, nil)
		webhookID, _ := s.Register(t, tenant.Key, receiver)
		operator := tenant.SignIn(t, nil)

		s.Do(t, apptest.Request{Method: "POST", Path: "/v1/webhooks/" + webhookID + "/test", Key: tenant.Key})
		delivered, cancelled := s.CreateOrder(t, tenant.KeyA), s.CreateOrder(t, tenant.Key)
		panelMove(t, s, operator, delivered, "receive", nil, 200)
		panelMove(t, s, operator, delivered, "assign", map[string]any{"rider_id": tenant.Riders[0].ID}, 200)
		panelMove(t, s, operator, delivered, "deliver", nil, 200)
		panelMove(t, s, operator, cancelled, "cancel", nil, 200)

		seen := map[string]bool{}
		for _, event := range receiver.WaitFor(t, 6) {
			schema := document.Components.Schemas["WebhookEvent"]
			if event.Event == "webhook.test" {
				schema = document.Components.Schemas["TestEvent"]
			}
			var body any
			require.NoError(t, json.Unmarshal(event.Body, &body))
			require.NoError(t, schema.Value.VisitJSON(body), "%s", event.Body)
			seen[event.Event] = true
		}
		require.Len(t, seen, 5, "every event was seen")
	})
}

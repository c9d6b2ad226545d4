package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http/httpguts"

	"despacho/api"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/photos"
	"despacho/test/apptest"
	"despacho/test/testenv"
)

// fuzzed is the API in this very process, so that any bytes reach it, also such as no HTTP client
// would send.
type fuzzed struct {
	name    string
	handler http.Handler
	key     string
	clock   *clock.Manual
}

// bootFuzzed boots the API on both databases: each has inputs that only it chokes on.
func bootFuzzed(f *testing.F) []*fuzzed {
	f.Helper()
	var targets []*fuzzed
	for name, databaseURL := range map[string]string{"sqlite": testenv.SQLite(f), "postgres": testenv.Postgres(f)} {
		target := &fuzzed{name: name, clock: clock.NewManual(apptest.FrozenAt)}
		s := apptest.Boot(f, databaseURL, apptest.Options{Clock: target.clock, NoWorker: true})
		target.key = s.NewTenant(f).Key
		photoStore, err := photos.NewStore(s.Config.PhotoOptions())
		require.NoError(f, err)
		server, err := api.New(api.Options{
			Config: s.Config, DB: s.App.DB, Catalog: db.NewCatalogCache(s.App.DB), Orders: s.App.Orders,
			Photos: photoStore, Temporal: s.Temporal, Clock: target.clock, Log: slog.New(slog.DiscardHandler),
		})
		require.NoError(f, err)
		target.handler = server.Handler()
		targets = append(targets, target)
	}
	return targets
}

// serve answers one request, each in a minute of its own so that no limit hides what comes after
// it, and demands that nothing broke.
func (f *fuzzed) serve(t *testing.T, method string, address *url.URL, body string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	f.clock.Advance(time.Minute)
	request := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
	request.URL = address
	request.Header.Set("X-API-Key", f.key)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response := httptest.NewRecorder()
	f.handler.ServeHTTP(response, request)
	require.Less(t, response.Code, 500, "%s: %s", f.name, response.Body)
	var envelope struct {
		Error, Code string
	}
	require.NoError(t, json.Unmarshal(response.Body.Bytes(), &envelope), "%s: %s", f.name, response.Body)
	require.Equal(t, response.Code >= 400, envelope.Error != "" && envelope.Code != "", "%s: %s", f.name, response.Body)
	return response
}

// Whatever the body of a creation: no 5xx, no panic, both databases agree, and what is answered
// with 201 can be read as it was answered.
func FuzzCreateBody(f *testing.F) {
	targets := bootFuzzed(f)
	for _, seed := range []string{
		"", "{}", "[]", "null", "\xff", `{"a":1,"a":2}`, `{} {}`, orderBody("Zapatillas"), sameOrderBody("Zapatillas"),
		withField("product", `"a\u0000b"`), withField("product", `"\ud800"`), withField("notes", `"línea\notra\u2028más"`),
		withField("recipient_name", `"ñandú 🚚 \u202e"`), withField("recipient_phone", `"+56 9 6123 4567"`), withField("amount_to_collect", "1e999999999"),
		withField("amount_to_collect", "999999.99"), withField("delivery_maps_url", `"https://www.google.com/maps?q=-12.1,-77.03"`),
		withField("delivery_maps_url", `"geo:0,0?q=-12.1,-77.03(\u00e9)"`), withField("store_id", `{"x":[]}`), withField("branch_id", `"`+apptest.Lima.String()+`"`),
		withField("recipient_doc_number", `"12345678","recipient_doc_type":"dni"`), withField("delivery_lat", `-0,"delivery_lng":1e-320`), withField("size", `"L"`),
		withField("extra", strings.Repeat("[", 40)+strings.Repeat("]", 40)), withField("location_id", `"00000000-0000-0000-0000-000000000000"`),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var codes []int
		for _, target := range targets {
			response := target.serve(t, http.MethodPost, &url.URL{Path: "/v1/orders"}, body, nil)
			codes = append(codes, response.Code)
			if response.Code != http.StatusCreated {
				continue
			}
			read := target.serve(t, http.MethodGet, &url.URL{Path: response.Header().Get("Location")}, "", nil)
			require.Equal(t, dataOf(t, response), dataOf(t, read), target.name)
		}
		require.Equal(t, codes[0], codes[1], "%q", body)
	})
}

func dataOf(t *testing.T, response *httptest.ResponseRecorder) string {
	t.Helper()
	var envelope struct{ Data json.RawMessage }
	require.NoError(t, json.Unmarshal(response.Body.Bytes(), &envelope))
	return string(envelope.Data)
}

// Whatever the query: every route that reads one answers with something below 500.
func FuzzQuery(f *testing.F) {
	targets := bootFuzzed(f)
	for _, seed := range []string{
		"", "status=registered&page=1&limit=200", "page=1000000000&limit=1000000000", "page=99999999999999999999", "from_date=2026-03-10&to_date=2026-03-10",
		"from_date=0001-01-01&to_date=9999-12-31", "from_date=2100-12-31", "to_date=2100-12-31", "country_code=PE&city=Lima", "country_code=pe&city=%00",
		"country_code=PE&codes=150122,150140,%20999999", "country_code=PE&q=bre%C3%B1a", "country_code=PE&q=%ff%fe", "country_code=PE&city=54c51d2b-049b-53b9-93ac-fa910f68ea0d",
		"status=%00", "page=%zz&limit=;", "&&&===", "country_code=PE&q=" + strings.Repeat("a", 500), "\x00\x01=\xff",
	} {
		f.Add(seed)
	}
	paths := []string{"/v1/orders", "/public/countries", "/public/cities", "/public/locations", "/public/locations/tree", "/public/locations/ubigeo"}
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range paths {
			first := targets[0].serve(t, http.MethodGet, &url.URL{Path: path, RawQuery: query}, "", nil)
			second := targets[1].serve(t, http.MethodGet, &url.URL{Path: path, RawQuery: query}, "", nil)
			require.Equal(t, first.Body.String(), second.Body.String(), "both databases answer alike")
		}
	})
}

// Whatever stands where a path has its value, and whatever the Idempotency-Key.
func FuzzPathAndKey(f *testing.F) {
	targets := bootFuzzed(f)
	for _, seed := range []string{"x", "00000-000000", apptest.Miraflores.String(), "\x00", "\xff", "..", "a/b", "%2e%2e", `"venta-1"`, `""`, strings.Repeat("ñ", 256), "🚚"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, target := range targets {
			for _, path := range []string{"/v1/track/", "/v1/orders/", "/files/"} {
				target.serve(t, http.MethodGet, &url.URL{Path: path + value}, "", nil)
			}
			target.serve(t, http.MethodGet, &url.URL{Path: "/public/locations/" + value + "/children"}, "", nil)
			target.serve(t, http.MethodPatch, &url.URL{Path: "/v1/orders/" + value + "/cancel"}, value, nil)
			if httpguts.ValidHeaderFieldValue(value) {
				target.serve(t, http.MethodPost, &url.URL{Path: "/v1/orders"}, "{}", map[string]string{"Idempotency-Key": value})
			}
		}
	})
}

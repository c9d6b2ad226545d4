package clients

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"despacho/api"
)

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

package clients

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"despacho/api"
)

// withoutMethod are the operations for stores that the clients have no method for, and why.
var withoutMethod = map[string]string{
	"listCountries": "a store knows its country, whose code the other calls of the catalog take",
}

// Every client has a method for every operation of openapi.yaml that stores may use. Each sends
// what the operation takes, once.
func TestOperations(t *testing.T) {
	t.Parallel()
	cases, err := table()
	require.NoError(t, err)
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	require.NoError(t, err)
	operations := map[string]*openapi3.Operation{}
	for path, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			if strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/public/") {
				operations[operation.OperationID] = operation
			}
		}
	}
	known := append(slices.Collect(maps.Keys(cases.Operations)), slices.Collect(maps.Keys(withoutMethod))...)
	require.ElementsMatch(t, slices.Collect(maps.Keys(operations)), known,
		"a method in each client and its call in cases.yaml, or the reason why there is none")
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "integrate.md"))
	require.NoError(t, err)
	for _, c := range cases.Operations {
		require.Contains(t, string(guide), "`"+c.Call+"`", "the guide names every method")
	}
	eachLanguage(t, func(t *testing.T, r *runner) {
		for name, c := range cases.Operations {
			got := &recorder{answer: answerTo(t, operations[name])}
			server := httptest.NewServer(got)
			o := r.call(t, server.URL, "the-key", c.Call, c.With)
			server.Close()
			require.Empty(t, o.Other, name)
			require.Nil(t, o.Error, name)
			require.False(t, o.NoAnswer, name)
			require.Len(t, got.requests, 1, name)
			require.Equal(t, name, requireRoute(t, document, got.requests[0], got.bodies[0]).Operation.OperationID)
		}
	})
}

// answerTo is an answer of the shape that an operation's has.
func answerTo(t *testing.T, operation *openapi3.Operation) string {
	t.Helper()
	answer := map[string]any{"message": "Listo."}
	for _, status := range []int{http.StatusOK, http.StatusCreated} {
		response := operation.Responses.Status(status)
		if response == nil {
			continue
		}
		data := response.Value.Content["application/json"].Schema.Value.Properties["data"]
		switch {
		case data == nil:
		case data.Value.Type.Is(openapi3.TypeArray):
			answer["data"] = []any{}
		default:
			answer["data"] = map[string]any{"orders": []any{}, "deliveries": []any{}, "settlements": []any{}, "total": 0, "limit": 1, "events": []any{}, "days": []any{}, "redelivering": 0}
		}
	}
	text, err := json.Marshal(answer)
	require.NoError(t, err)
	return string(text)
}

package clients

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"despacho/api"
)

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

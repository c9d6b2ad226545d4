package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/api"
	"despacho/internal/orders"
)

// scenarioRow is a row of a table of scenarios.
var scenarioRow = regexp.MustCompile("(?m)^ *(\\| `[0-9]{3}` \\| .*\\|)$")

// The tables of test mode's scenarios, on the page and in the reference, are that of the code.
func TestScenarios_areThoseOfTheCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("test-mode.md")
	require.NoError(t, err)
	for name, document := range map[string]struct {
		text []byte
		says func(orders.Scenario) string
	}{
		"docs/test-mode.md": {page, func(s orders.Scenario) string { return s.English }},
		"api/openapi.yaml":  {api.OpenAPI(), func(s orders.Scenario) string { return s.Spanish }},
	} {
		var documented, known []string
		for _, row := range scenarioRow.FindAllSubmatch(document.text, -1) {
			documented = append(documented, string(row[1]))
		}
		for _, scenario := range orders.Scenarios {
			moves := scenario.Moves()
			if moves == "" {
				moves = "—"
			}
			known = append(known, "| "+strings.Join([]string{"`" + scenario.Digits + "`", document.says(scenario), moves}, " | ")+" |")
		}
		require.Equal(t, known, documented, name)
	}
}

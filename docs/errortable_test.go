// Package docs_test holds the documents to the program.
package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"despacho/test/apptest"
)

// The table of errors names only codes that the reference knows, and all that an integration can
// meet.
func TestIntegrate_errorTableKnowsTheCodes(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("integrate.md")
	require.NoError(t, err)
	reference, err := os.ReadFile("../api/openapi.yaml")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| [0-9, ]+ \| ([^|]+) \|`).FindAllStringSubmatch(string(guide), -1) {
		for _, code := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			named[code[1]] = true
			require.True(t, strings.Contains(string(reference), "| `"+code[1]+"` |"), code[1])
		}
	}
	shown := codesOfIntegrations(t)
	require.Greater(t, len(shown), 15)
	for code, operation := range shown {
		assert.True(t, named[code], "%s of %s is not in the table of integrate.md", code, operation)
	}
}

// codesOfIntegrations are the codes in the examples of the reference for the operations of /v1 and
// of the catalog, each with an operation that has it.
func codesOfIntegrations(t *testing.T) map[string]string {
	t.Helper()
	document, err := apptest.Document()
	require.NoError(t, err)
	codes := map[string]string{}
	for path, item := range document.Paths.Map() {
		if !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/public/") {
			continue
		}
		for method, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				for _, content := range response.Value.Content {
					examples := []any{content.Example}
					for _, example := range content.Examples {
						examples = append(examples, example.Value.Value)
					}
					for _, example := range examples {
						if members, is := example.(map[string]any); is && members["code"] != nil {
							codes[members["code"].(string)] = method + " " + path
						}
					}
				}
			}
		}
	}
	return codes
}

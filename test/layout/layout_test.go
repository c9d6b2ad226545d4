// Package layout holds the folders of the module to the arrows between them.
package layout

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "despacho/"

// folder is a top-level folder, or one of cmd's, and the folders that its code may import. Tests
// may import anything.
type folder struct {
	name    string
	imports []string
	// holds is what the README says of it.
	holds string
}

// folders are listed from the programs down to what imports nothing. Nothing of the product imports
// dev, lab or test, and internal imports no other folder.
var folders = []folder{
	{"cmd/despacho", []string{"internal/app", "internal/catalog", "internal/db", "internal/dev", "internal", "models", "internal/operators", "internal/web", "internal/webhooks", "worker", "workflows"}, "the shipped binary"},
	{"cmd/release", nil, "what `make release` runs"},
	{"cmd/testrunner", []string{"internal/dev", "test"}, "what `make test` and `make lint` run"},
	{"internal/app", []string{"activities", "api", "internal/db", "internal/events", "internal", "internal/operators", "internal/orders", "internal/webhooks", "worker", "workflows"}, "puts the parts together, for main and for tests"},
	{"api", []string{"internal/catalog", "internal/db", "internal/events", "internal", "models", "internal/operators", "internal/orders", "internal/web", "internal/webhooks"}, "the HTTP edge: router, middleware, one file for each resource, openapi.yaml, the panel's JSON API"},
	{"internal/panel", []string{"internal/catalog", "internal/db", "internal", "models", "internal/operators", "internal/orders", "internal/web", "internal/webhooks", "workflows"}, "the panel's pages"},
	{"internal/web", []string{"internal", "models"}, "the tracking page and what all pages share"},
	{"worker", []string{"activities", "internal", "workflows"}, "registers workflows and activities and runs until told to stop"},
	{"activities", []string{"internal/db", "internal", "models", "internal/orders", "internal/webhooks", "workflows"}, "what a workflow has done outside of Temporal"},
	{"internal/orders", []string{"internal/catalog", "internal/db", "internal", "models", "internal/webhooks", "workflows"}, "the use cases of orders, shared by both edges"},
	{"internal/events", []string{"internal/db", "internal", "models", "internal/webhooks"}, "the use cases of the event feed"},
	{"internal/webhooks", []string{"internal/db", "internal", "models", "workflows"}, "the use cases of webhooks, the sender, and what `despacho listen` runs"},
	{"internal/operators", []string{"internal/db", "internal", "models"}, "the use cases of an operator's settings, keys and users"},
	{"workflows", []string{"internal", "models"}, "an order's life: contract.go has the names, ids and messages"},
	{"internal/db", []string{"internal/catalog", "internal", "models"}, "connections, migrations, queries"},
	{"models", []string{"internal"}, "rows, statuses and the one transition table"},
	{"internal/catalog", []string{"internal"}, "the embedded location data"},
	{"internal", nil, "the product's own small libraries"},
	{"internal/dev", []string{"internal/catalog", "internal/db", "internal", "models", "internal/webhooks"}, "what `despacho dev` starts: Temporal, the webhook inbox, the demo data, the demo DNI provider"},
	{"test/lab", []string{"internal/catalog", "internal/db", "internal/dev", "internal", "models", "internal/webhooks", "workflows"}, "`bench`, `chaos` and `drill`: how the product is proven"},
	{"test", []string{"api", "internal/app", "internal/catalog", "internal/db", "internal/dev", "internal", "models", "internal/orders", "workflows"}, "what tests share, and the suites that are no package's own"},
	{"docs", nil, "documentation, and the tests that hold it to the program"},
}

// folderOf is the folder that a package is in: the one with the longest name that its path begins
// with.
func folderOf(path string) (name string) {
	path = strings.TrimPrefix(path, module)
	for _, f := range folders {
		if (path == f.name || strings.HasPrefix(path, f.name+"/")) && len(f.name) > len(name) {
			name = f.name
		}
	}
	return name
}

func TestImports_followTheArrows(t *testing.T) {
	t.Parallel()
	output, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	require.NoError(t, err)
	actual := map[string][]string{}
	for line := range strings.Lines(string(output)) {
		words := strings.Fields(line)
		from := folderOf(words[0])
		actual[from] = append(actual[from], []string{}...)
		for _, imported := range words[1:] {
			if to := folderOf(imported); strings.HasPrefix(imported, module) && to != from && !slices.Contains(actual[from], to) {
				actual[from] = append(actual[from], to)
			}
		}
	}
	require.Len(t, actual, len(folders), "every folder has a row, and every row a folder")
	for _, f := range folders {
		require.Contains(t, actual, f.name)
		slices.Sort(actual[f.name])
		require.ElementsMatch(t, f.imports, actual[f.name], "%s imports %v", f.name, actual[f.name])
	}
}

// The README's table of folders is this one.
func TestReadme_hasTheTable(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	var table strings.Builder
	table.WriteString("| folder | holds | imports |\n|---|---|---|\n")
	for _, f := range folders {
		imports := strings.Join(f.imports, ", ")
		if imports == "" {
			imports = "nothing of the module"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", f.name, f.holds, imports)
	}
	require.Contains(t, string(readme), table.String())
}

// The picture in docs/architecture.md has these arrows, without internal and without what the
// folders outside the product import.
func TestArchitecture_hasTheArrows(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	var picture strings.Builder
	picture.WriteString("```mermaid\nflowchart TD\n")
	node := strings.NewReplacer("/", "_")
	for _, f := range folders {
		if slices.Contains([]string{"internal/dev", "test/lab", "test"}, f.name) {
			continue
		}
		for _, imported := range f.imports {
			if imported != "internal" {
				fmt.Fprintf(&picture, "    %s[\"%s\"] --> %s\n", node.Replace(f.name), f.name, node.Replace(imported))
			}
		}
	}
	picture.WriteString("```\n")
	require.Contains(t, string(document), picture.String())
}

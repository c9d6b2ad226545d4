// Package layout holds the folders of the module to the arrows between them.
package layout

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "despacho/"

// folders are the parts of the product that have arrows of their own. What else is in internal are
// libraries, which import none of these.
var folders = []string{
	"cmd/despacho", "internal/app", "api", "internal/panel", "internal/web", "worker", "activities", "internal/orders", "internal/cash", "internal/events",
	"internal/webhooks", "internal/operators", "internal/riders", "workflows", "internal/db", "internal/catalog", "models", "internal",
}

// outside are the folders that are not of the product: nothing of it imports them, except that
// cmd/despacho has a command that runs the development stack.
var outside = []string{"cmd/testrunner", "internal/dev", "deploy", "test", "docs", "clients"}

// folderOf is the folder that a package is in: the one with the longest name that its path begins
// with.
func folderOf(path string) (name string) {
	path = strings.TrimPrefix(path, module)
	for _, folder := range slices.Concat(folders, outside) {
		if (path == folder || strings.HasPrefix(path, folder+"/")) && len(folder) > len(name) {
			name = folder
		}
	}
	return name
}

// arrows are the imports between two folders of the product, as "from --> to".
func arrows(t *testing.T) []string {
	t.Helper()
	output, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	require.NoError(t, err)
	found := map[string]bool{}
	for line := range strings.Lines(string(output)) {
		words := strings.Fields(line)
		from := folderOf(words[0])
		require.NotEmpty(t, from, "%s is in no folder that this test knows", words[0])
		if slices.Contains(outside, from) {
			continue
		}
		for _, imported := range words[1:] {
			to := folderOf(imported)
			switch {
			case !strings.HasPrefix(imported, module) || to == from:
			case slices.Contains(outside, to):
				require.Equal(t, "cmd/despacho imports internal/dev", from+" imports "+to)
			case from == "internal":
				t.Errorf("%s is a library and imports %s", words[0], imported)
			case to != "internal":
				found[from+" --> "+to] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

var drawnArrow = regexp.MustCompile(`(?m)^    \w+\["([\w/]+)"\] --> \w+\["([\w/]+)"\]$`)

// The picture in docs/architecture.md has the arrows of the code, and no circle.
func TestImports_areThePicture(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	var drawn []string
	for _, arrow := range drawnArrow.FindAllStringSubmatch(string(document), -1) {
		drawn = append(drawn, arrow[1]+" --> "+arrow[2])
	}
	actual := arrows(t)
	require.ElementsMatch(t, actual, drawn, "docs/architecture.md should draw\n%s", picture(actual))
	for _, arrow := range actual {
		from, to, _ := strings.Cut(arrow, " --> ")
		require.Less(t, slices.Index(folders, from), slices.Index(folders, to), "%s: arrows point down the list of folders", arrow)
	}
}

// picture is what docs/architecture.md should have.
func picture(arrows []string) string {
	var lines strings.Builder
	node := strings.NewReplacer("/", "_")
	for _, arrow := range arrows {
		from, to, _ := strings.Cut(arrow, " --> ")
		lines.WriteString("    " + node.Replace(from) + `["` + from + `"] --> ` + node.Replace(to) + `["` + to + "\"]\n")
	}
	return lines.String()
}

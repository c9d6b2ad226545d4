package config_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
)

// The lines of docs/configuration.md between which the table stands.
const (
	tableBegins = "<!-- configuration: internal/config/table_test.go compares this table with the Config struct -->\n"
	tableEnds   = "<!-- end of configuration -->\n"
)

func TestDocuments_configurationTableIsTheStructs(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(content), tableBegins)
	require.True(t, found, "docs/configuration.md lacks the line\n%s", tableBegins)
	table, _, found := strings.Cut(after, tableEnds)
	require.True(t, found, "docs/configuration.md lacks the line\n%s", tableEnds)
	want := configurationTable()
	require.True(t, table == want, "docs/configuration.md and the Config struct differ. The table should be:\n\n%s", want)
}

func configurationTable() string {
	markdown := strings.NewReplacer("|", `\|`, "<", `\<`)
	var table strings.Builder
	table.WriteString("| variable | default | meaning |\n|---|---|---|\n")
	for _, v := range config.Variables() {
		standard := ""
		if v.Default != "" {
			standard = "`" + v.Default + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", v.Name, standard, markdown.Replace(v.Doc))
	}
	return table.String()
}

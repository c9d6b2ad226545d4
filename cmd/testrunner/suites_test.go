package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every package with tests is run once, with the others of its module, and in a row of the table.
func TestTestRuns_haveEveryPackageOnce(t *testing.T) {
	t.Parallel()
	packages := []string{
		"despacho/internal/webhooks", "despacho/internal/webhooks/sender", "despacho/api", "despacho/internal/money",
		"despacho/internal/panel", "despacho/test/lab/chaos", "despacho/test/deploy",
	}
	require.Equal(t, []testRun{
		{name: "raced", dir: ".", race: true, packages: packages[:4]},
		{name: "outside", dir: ".", packages: packages[4:5]},
		{name: "lab", dir: "test/lab", race: true, packages: packages[5:6]},
		{name: "deploy", dir: "test/deploy", packages: packages[6:]},
	}, testRuns(packages))
	var suites []string
	for _, r := range rowsOf(packages) {
		if r.suite != "" {
			suites = append(suites, r.suite)
		}
	}
	require.Equal(t, []string{"webhooks", "api", "units", "panel", "lab", "deploy"}, suites)
	require.Contains(t, testRuns(packages)[0].flags(), "-race")
	require.NotContains(t, testRuns(packages)[1].flags(), "-race")
}

// What the lists name must exist: a renamed package or test would otherwise leave an entry behind.
func TestLists_nameWhatExists(t *testing.T) {
	t.Parallel()
	for _, s := range suites {
		require.DirExists(t, filepath.Join("..", "..", s.dir))
	}
	for name := range expectedSkips {
		path, test, _ := strings.Cut(name, " ")
		files, err := filepath.Glob(filepath.Join("..", "..", strings.TrimPrefix(path, module), "*_test.go"))
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(files, func(file string) bool {
			content, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(content), "func "+test+"(")
		}), "there is no %s", name)
	}
}

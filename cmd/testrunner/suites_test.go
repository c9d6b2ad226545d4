package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func namesOf(list []suite) (names []string) {
	for _, s := range list {
		names = append(names, s.name)
	}
	return names
}

func TestAssign_everyPackageIsTestedByOneSuite(t *testing.T) {
	t.Parallel()
	assigned := assign([]string{"despacho/api", "despacho/api/openapi", "despacho/cmd/despacho", "despacho/test/lab/chaos", "despacho/internal/money", "despacho/workflows"})
	require.Equal(t, []string{"lint", "units", "workflows", "api", "lab"}, namesOf(assigned), "there is no browser/ and so no browser suite")
	packages := map[string][]string{}
	for _, s := range assigned {
		packages[s.name] = s.packages
	}
	require.Equal(t, []string{"despacho/cmd/despacho", "despacho/internal/money"}, packages["units"])
	require.Equal(t, []string{"despacho/api", "despacho/api/openapi"}, packages["api"])
	require.Equal(t, []string{"despacho/workflows"}, packages["workflows"])
	require.Equal(t, []string{"despacho/test/lab/chaos"}, packages["lab"])
}

func TestChoose(t *testing.T) {
	t.Parallel()
	all := assign([]string{"despacho/api", "despacho/internal/money"})
	chosen, err := choose(all, []string{"api", "lint"})
	require.NoError(t, err)
	require.Equal(t, []string{"lint", "api"}, namesOf(chosen))
	_, err = choose(all, []string{"unit"})
	require.EqualError(t, err, "the suites are lint, units, api, not unit")
}

func TestRunSuites_missingNeeds(t *testing.T) {
	t.Parallel()
	browser := []suite{{name: "browser", needs: []need{chromium}, packages: []string{"despacho/test/browser"}}}
	env := &environment{strict: true, missing: map[need]string{chromium: "it is not installed"}}
	rows, err := runSuites(t.Context(), browser, env, io.Discard)
	require.NoError(t, err)
	require.Equal(t, []row{{suite: "browser", counts: counts{failed: 1}, problem: "could not run: Chromium: it is not installed"}}, rows)

	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	rows, err = runSuites(interrupted, browser, env, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "interrupted", rows[0].problem)
	require.Equal(t, counts{failed: 1}, rows[0].counts)
}

func TestTestCommand_slowestFirst(t *testing.T) {
	t.Parallel()
	command := testRun{dir: ".", packages: []string{"despacho/api", "despacho/internal/guidecode", "despacho/internal/webhooks"}, race: true}.command()
	require.Equal(t, []string{"despacho/internal/webhooks", "despacho/api", "despacho/internal/guidecode"}, command[len(command)-3:])
	require.Contains(t, command, "-race")
	require.NotContains(t, testRun{}.command(), "-race")
}

// What the lists name must exist: a renamed package or test would otherwise leave an entry behind.
func TestLists_nameWhatExists(t *testing.T) {
	t.Parallel()
	directory := func(path string) string { return filepath.Join("..", "..", strings.TrimPrefix(path, module)) }
	for _, path := range slowest {
		require.DirExists(t, directory(path))
	}
	for _, s := range suites {
		require.DirExists(t, directory(s.owns))
	}
	var names []string
	for _, l := range linters() {
		names = append(names, l.name)
	}
	for id, reason := range expectedSkips {
		require.NotEmpty(t, reason)
		if id.pkg == "lint" {
			require.Contains(t, names, id.test)
			continue
		}
		files, err := filepath.Glob(filepath.Join(directory(id.pkg), "*_test.go"))
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(files, func(file string) bool {
			content, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(content), "func "+id.test+"(")
		}), "%s has no %s", id.pkg, id.test)
	}
}

// govulncheck is skipped where its database does not answer, and runs where it does.
func TestVulnerabilitiesUnreachable(t *testing.T) {
	database := httptest.NewServer(http.NotFoundHandler())
	t.Setenv("GOVULNDB", database.URL)
	requireSkip(t, false, vulnerabilitiesUnreachable)
	database.Close()
	requireSkip(t, true, vulnerabilitiesUnreachable)
	t.Setenv("GOVULNDB", "file:///nowhere")
	requireSkip(t, false, vulnerabilitiesUnreachable)
}

func requireSkip(t *testing.T, skips bool, prepare func(context.Context) (string, error)) {
	t.Helper()
	skip, err := prepare(t.Context())
	require.NoError(t, err)
	require.Equal(t, skips, skip != "", skip)
}

// The tools from npm are skipped where there is no Node, one that is too old, or no registry.
func TestInstallNodeTools_skips(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	programs := t.TempDir()
	t.Setenv("PATH", programs)
	requireSkip(t, true, installNodeTools)
	program := func(name, script string) {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+script), 0o700))
	}
	program("node", "echo v18.20.4")
	requireSkip(t, true, installNodeTools)
	program("node", "echo v20.20.2")
	requireSkip(t, true, installNodeTools)
	program("npm", "exit 1")
	requireSkip(t, true, installNodeTools)
	program("npm", "exit 0")
	_, err := installNodeTools(t.Context())
	require.ErrorIs(t, err, os.ErrNotExist, "there is no package.json here")
}

// With CI=true a linter that cannot run fails, unless that is expected of it.
func TestLint_skips(t *testing.T) {
	t.Parallel()
	cannot := func(context.Context) (string, error) { return "there is no registry", nil }
	for name, c := range map[string]struct {
		linter string
		strict bool
		want   counts
	}{
		"on a desk":       {"vet", false, counts{skipped: 1}},
		"with CI=true":    {"vet", true, counts{failed: 1}},
		"where it may be": {"redocly", true, counts{skipped: 1}},
	} {
		var result row
		lint(t.Context(), []linter{{name: c.linter, prepare: cannot}}, &result, nil, c.strict, io.Discard)
		require.Equal(t, c.want, result.counts, name)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.True(t, summarize([]row{{suite: "lint", counts: counts{passed: 4}, took: 12 * time.Second}}, 15*time.Second, &out))
	require.Contains(t, out.String(), "lint    passed   12s    4           0\n")
	require.True(t, strings.HasSuffix(out.String(), "\n4 passed, 0 failed\n"))

	out.Reset()
	require.False(t, summarize([]row{
		{suite: "units", counts: counts{passed: 7, failed: 1, skipped: 2}},
		{suite: "browser", counts: counts{failed: 1}, problem: "could not run: Chromium: it is not installed"},
	}, time.Minute, &out))
	require.Contains(t, out.String(), "browser   FAILED (could not run: Chromium: it is not installed)   0s     0")
	require.True(t, strings.HasSuffix(out.String(), "\n7 passed, 2 failed, 2 skipped\n"))
}

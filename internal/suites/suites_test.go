package main

import (
	"context"
	"io"
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
	assigned := assign([]string{"despacho/api", "despacho/api/openapi", "despacho/cmd/despacho", "despacho/internal/chaos", "despacho/internal/money", "despacho/workflows"})
	require.Equal(t, []string{"lint", "units", "workflows", "api", "chaos"}, namesOf(assigned), "there is no browser/ and so no browser suite")
	packages := map[string][]string{}
	for _, s := range assigned {
		packages[s.name] = s.packages
	}
	require.Equal(t, []string{"despacho/cmd/despacho", "despacho/internal/money"}, packages["units"])
	require.Equal(t, []string{"despacho/api", "despacho/api/openapi"}, packages["api"])
	require.Equal(t, []string{"despacho/workflows"}, packages["workflows"])
	require.Equal(t, []string{"despacho/internal/chaos"}, packages["chaos"])
	require.Len(t, packages["lint"], 6)
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

func TestRunSuite_whatCannotRunInFull(t *testing.T) {
	t.Parallel()
	browser := suite{name: "browser", needs: []need{chromium}, run: func(context.Context, suite, *environment, io.Writer) counts {
		return counts{passed: 2, skipped: 1}
	}}
	env := &environment{missing: map[need]string{chromium: "it is not installed"}}

	var out strings.Builder
	require.Equal(t, counts{passed: 2, skipped: 1}, runSuite(t.Context(), browser, env, &out).counts)
	require.Contains(t, out.String(), "not all of it can run: Chromium: it is not installed")

	env.strict = true
	strict := runSuite(t.Context(), browser, env, &out)
	require.Equal(t, counts{failed: 1}, strict.counts)
	require.Equal(t, "could not run: Chromium: it is not installed", strict.problem)

	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, "interrupted", runSuite(interrupted, browser, env, &out).problem)
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.True(t, summarize([]row{{suite: "lint", counts: counts{passed: 4}, took: 12 * time.Second}}, &out))
	require.Contains(t, out.String(), "lint    passed   12s    4           0\n")
	require.True(t, strings.HasSuffix(out.String(), "\n4 passed, 0 failed\n"))

	out.Reset()
	require.False(t, summarize([]row{
		{suite: "units", counts: counts{passed: 7, failed: 1, skipped: 2}},
		{suite: "browser", counts: counts{failed: 1}, problem: "could not run: Chromium: it is not installed"},
	}, &out))
	require.Contains(t, out.String(), "browser   FAILED (could not run: Chromium: it is not installed)   0s     0")
	require.True(t, strings.HasSuffix(out.String(), "\n7 passed, 2 failed, 2 skipped\n"))
}

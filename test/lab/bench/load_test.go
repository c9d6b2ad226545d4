package bench

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAlternate_takesTurnsAndThrowsTheFirstAway(t *testing.T) {
	t.Parallel()
	var order strings.Builder
	candidate := func(name string) func(context.Context) (float64, error) {
		return func(context.Context) (float64, error) {
			order.WriteString(name)
			return float64(order.Len()), nil
		}
	}
	rounds, err := alternate(t.Context(), 2, candidate("A"), candidate("B"))
	require.NoError(t, err)
	require.Equal(t, "ABABAB", order.String())
	require.Equal(t, [][]float64{{3, 5}, {4, 6}}, rounds)
	broken := errors.New("refused")
	_, err = alternate(t.Context(), 2, candidate("A"), func(context.Context) (float64, error) { return 0, broken })
	require.ErrorIs(t, err, broken)
}

func TestThroughput_endsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	_, err := throughput(t.Context(), 2, time.Hour, func(context.Context, int) error { return errors.New("429") }, noBacklog)
	require.ErrorContains(t, err, "429")
}

func TestThroughput_countsWhatIsPutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rate, err := throughput(t.Context(), 2, time.Second, func(context.Context, int) error {
			time.Sleep(100 * time.Millisecond)
			return nil
		}, func(context.Context) error {
			time.Sleep(3 * time.Second)
			return nil
		})
		require.NoError(t, err)
		require.InDelta(t, 20/4.0, rate, 1e-9, "two clients make ten calls each in the second, and 3 more seconds count")
	})
}

func TestTypical_isTheMedianOfWhatCallsSay(t *testing.T) {
	t.Parallel()
	call := 0
	value, err := medianLatency(t.Context(), 3, func(context.Context) (time.Duration, error) {
		call++
		return time.Duration(call*call) * time.Millisecond, nil
	})
	require.NoError(t, err)
	require.InDelta(t, 4, value, 1e-9)
}

func TestStudies_areChosenByProfileAndRow(t *testing.T) {
	t.Parallel()
	names := func(options Options, profile string) (list []string) {
		for _, st := range studiesFor(options, full, profile) {
			list = append(list, st.name)
		}
		return list
	}
	require.Len(t, names(Options{}, profileServer), len(studies))
	require.Equal(t, []string{"a whole life", "moves", "webhook arrival", "acknowledging orders", "creating orders", "starting what is missing", "whole lives against the reference application"}, names(Options{}, profileDev), "what depends on Temporal")
	require.Len(t, names(Options{Profile: "all"}, profileDev), len(studies))
	require.Empty(t, names(Options{Profile: profileServer}, profileDev))
	require.Equal(t, []string{"reading orders"}, names(Options{Only: regexp.MustCompile("^GET")}, profileServer))
	skip := regexp.MustCompile("open workflows|^RSS of the (api|worker), 100")
	require.NotContains(t, names(Options{Skip: skip}, profileServer), "many open orders")
	require.Len(t, names(Options{Skip: skip}, profileServer), len(studies)-1)
	require.Empty(t, names(Options{Only: skip, Skip: skip}, profileServer))
}

func TestRun_refusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]Options{
		"a profile that does not exist":   {Profile: "cloud"},
		"a quick run for the document":    {Document: "docs/benchmarks.md", Quick: true},
		"a part of the run for the same":  {Document: "docs/benchmarks.md", Only: regexp.MustCompile("GET")},
		"the dev server alone for it too": {Document: "docs/benchmarks.md", Profile: profileDev},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.Out = io.Discard
			require.Error(t, Run(t.Context(), options))
		})
	}
}

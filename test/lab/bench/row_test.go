package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGoal_decidesTheVerdict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row           Row
		goal, verdict string
	}{
		"as fast as wanted":     {ratioRow("x", "orders/s", ratioAtLeast(0.8), []float64{100}, []float64{80}), "≥ 0.80×", "met"},
		"too slow":              {ratioRow("x", "orders/s", ratioAtLeast(0.8), []float64{100}, []float64{79}), "≥ 0.80×", "MISSED"},
		"as short as wanted":    {ratioRow("x", "ms", ratioAtMost(2), []float64{10}, []float64{20}), "≤ 2.00×", "met"},
		"too long":              {ratioRow("x", "ms", ratioAtMost(2), []float64{10}, []float64{21}), "≤ 2.00×", "MISSED"},
		"less than nothing":     {absoluteRow("x", "ms", atMost(100), []float64{-3}), "≤ 100 ms", "met"},
		"shown without a goal":  {ratioRow("x", "ms", goal{}, []float64{10}, []float64{99}), "", "-"},
		"what was not measured": {Row{Name: "x", Failure: "no PostgreSQL"}, "", "not measured: no PostgreSQL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.goal, c.row.Goal)
			require.Equal(t, c.verdict, c.row.verdict())
		})
	}
}

// The ratio is the median of the rounds' ratios, not the ratio of the medians: rounds are compared
// with their neighbours.
func TestRatioRow_medianOfRoundRatios(t *testing.T) {
	t.Parallel()
	row := ratioRow("x", "orders/s", ratioAtLeast(0.8), []float64{100, 10, 1}, []float64{50, 9, 0.9})
	require.InDelta(t, 0.9, *row.Ratio, 1e-9)
	require.InDelta(t, 10, *row.Baseline, 1e-9)
	require.InDelta(t, 9, row.Result, 1e-9)
	require.InDelta(t, 0.5, row.Spread.Min, 1e-9)
}

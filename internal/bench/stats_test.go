package bench

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPercentile(t *testing.T) {
	t.Parallel()
	values := []float64{40, 10, 30, 20} // in no order, and left so
	for p, want := range map[float64]float64{0: 10, 25: 17.5, 50: 25, 100: 40} {
		require.InDelta(t, want, percentile(values, p), 1e-9, "p%v", p)
	}
	require.Equal(t, []float64{40, 10, 30, 20}, values)
	require.InDelta(t, 30, median([]float64{50, 30, 10}), 1e-9)
	require.InDelta(t, 7, percentile([]float64{7}, 99), 1e-9)
	require.True(t, math.IsNaN(median(nil)))
}

func TestSpread(t *testing.T) {
	t.Parallel()
	require.Nil(t, spreadOf([]float64{1}), "one round lies nowhere apart")
	require.Equal(t, &Spread{Min: 1, Quartile: 2, Upper: 4, Max: 5}, spreadOf([]float64{5, 1, 4, 2, 3}))
}

// A round that was slow for both counts as what it was: the same ratio.
func TestRatios_areTakenRoundByRound(t *testing.T) {
	t.Parallel()
	require.Equal(t, []float64{0.5, 0.5, 0.5}, ratios([]float64{50, 5, 100}, []float64{100, 10, 200}))
	require.Len(t, ratios([]float64{1, 2}, []float64{1}), 1)
}

package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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

package cluster

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPercentile(t *testing.T) {
	t.Parallel()
	values := []float64{40, 10, 30, 20} // in no order, and left so
	for p, want := range map[float64]float64{0: 10, 25: 17.5, 50: 25, 100: 40} {
		require.InDelta(t, want, Percentile(values, p), 1e-9, "p%v", p)
	}
	require.Equal(t, []float64{40, 10, 30, 20}, values)
	require.InDelta(t, 30, Percentile([]float64{50, 30, 10}, 50), 1e-9)
	require.InDelta(t, 7, Percentile([]float64{7}, 99), 1e-9)
	require.True(t, math.IsNaN(Percentile(nil, 50)))
}

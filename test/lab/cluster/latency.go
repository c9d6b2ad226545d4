package cluster

import (
	"math"
	"slices"
	"time"
)

// Percentile is the value below which p per cent of the values lie, interpolated between its
// neighbours; NaN of nothing.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	position := p / 100 * float64(len(sorted)-1)
	below := int(position)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	fraction := position - float64(below)
	return sorted[below] + fraction*(sorted[below+1]-sorted[below])
}

// Milliseconds is a duration as the results show it.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

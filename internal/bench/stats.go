package bench

import (
	"math"
	"slices"
)

// median is the middle of the values, or the mean of the two in the middle.
func median(values []float64) float64 { return percentile(values, 50) }

// percentile is the value below which p per cent of the values lie, interpolated between its neighbours; NaN of nothing.
func percentile(values []float64, p float64) float64 {
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

// Spread is how far the rounds lie apart: half of them are between the quartiles.
type Spread struct {
	Min      float64 `json:"min"`
	Quartile float64 `json:"lower_quartile"`
	Upper    float64 `json:"upper_quartile"`
	Max      float64 `json:"max"`
}

func spreadOf(values []float64) *Spread {
	if len(values) < 2 {
		return nil // one round lies nowhere apart
	}
	return &Spread{
		Min: slices.Min(values), Quartile: percentile(values, 25), Upper: percentile(values, 75), Max: slices.Max(values),
	}
}

// ratios divides the rounds of a result by those of its baseline, each by the one measured beside it.
func ratios(result, baseline []float64) []float64 {
	list := make([]float64, min(len(result), len(baseline)))
	for i := range list {
		list[i] = result[i] / baseline[i]
	}
	return list
}

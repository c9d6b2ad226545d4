package bench

import (
	"slices"

	"despacho/test/lab/cluster"
)

// median is the middle of the values, or the mean of the two in the middle.
func median(values []float64) float64 { return cluster.Percentile(values, 50) }

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
		Min: slices.Min(values), Quartile: cluster.Percentile(values, 25), Upper: cluster.Percentile(values, 75),
		Max: slices.Max(values),
	}
}

// ratios divides each round of a result by the same round of its baseline.
func ratios(result, baseline []float64) []float64 {
	list := make([]float64, min(len(result), len(baseline)))
	for i := range list {
		list[i] = result[i] / baseline[i]
	}
	return list
}

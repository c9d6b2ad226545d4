package orders

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDurations_percentilesAreObservedTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minutes     map[int64]int64
		median, p90 time.Duration
	}{
		"none":             {nil, 0, 0},
		"one":              {map[int64]int64{7: 1}, 7 * time.Minute, 7 * time.Minute},
		"two":              {map[int64]int64{7: 1, 90: 1}, 7 * time.Minute, 90 * time.Minute},
		"ten":              {map[int64]int64{1: 5, 2: 4, 600: 1}, time.Minute, 2 * time.Minute},
		"eleven":           {map[int64]int64{1: 5, 2: 4, 600: 2}, 2 * time.Minute, 600 * time.Minute},
		"all the same":     {map[int64]int64{30: 1000}, 30 * time.Minute, 30 * time.Minute},
		"within a minute":  {map[int64]int64{0: 3}, 0, 0},
		"the slow are few": {map[int64]int64{30: 99, 9999: 1}, 30 * time.Minute, 30 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			durations := newDurations(c.minutes)
			require.Equal(t, c.median, durations.Median(), "median")
			require.Equal(t, c.p90, durations.P90(), "p90")
		})
	}
}

func TestDurations_bucketsHoldEveryDelivery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minutes map[int64]int64
		width   time.Duration
		counts  []int64
	}{
		"none":                 {nil, 0, nil},
		"short":                {map[int64]int64{9: 2, 10: 3, 25: 1}, 10 * time.Minute, []int64{2, 3, 1, 0, 0, 0}},
		"hours":                {map[int64]int64{30: 1, 500: 1}, time.Hour, []int64{1, 0, 0, 0, 0, 0, 0, 0, 1}},
		"the slowest share":    {map[int64]int64{5: 90, 15: 9, 9999: 1}, 10 * time.Minute, []int64{90, 9, 0, 0, 0, 1}},
		"longer than any step": {map[int64]int64{600 * 1440: 1}, 28 * 24 * time.Hour, []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
		"clocks that disagree": {map[int64]int64{-20: 1, 5: 1}, 10 * time.Minute, []int64{2, 0, 0, 0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var counts []int64
			for i, bucket := range newDurations(c.minutes).Buckets(12) {
				counts = append(counts, bucket.Count)
				require.Equal(t, time.Duration(i)*c.width, bucket.From)
				require.Equal(t, time.Duration(i+1)*c.width, bucket.Until)
			}
			require.Equal(t, c.counts, counts)
		})
	}
}

package orders

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/db"
)

func TestDurations_percentilesAreObservedTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minutes     []db.MinuteCount
		median, p90 time.Duration
	}{
		"none":             {nil, 0, 0},
		"one":              {[]db.MinuteCount{{Minutes: 7, Count: 1}}, 7 * time.Minute, 7 * time.Minute},
		"two":              {[]db.MinuteCount{{Minutes: 7, Count: 1}, {Minutes: 90, Count: 1}}, 7 * time.Minute, 90 * time.Minute},
		"ten":              {[]db.MinuteCount{{Minutes: 1, Count: 5}, {Minutes: 2, Count: 4}, {Minutes: 600, Count: 1}}, time.Minute, 2 * time.Minute},
		"eleven":           {[]db.MinuteCount{{Minutes: 1, Count: 5}, {Minutes: 2, Count: 4}, {Minutes: 600, Count: 2}}, 2 * time.Minute, 600 * time.Minute},
		"all the same":     {[]db.MinuteCount{{Minutes: 30, Count: 1000}}, 30 * time.Minute, 30 * time.Minute},
		"within a minute":  {[]db.MinuteCount{{Minutes: 0, Count: 3}}, 0, 0},
		"the slow are few": {[]db.MinuteCount{{Minutes: 30, Count: 99}, {Minutes: 9999, Count: 1}}, 30 * time.Minute, 30 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spread := newDurations(c.minutes)
			require.Equal(t, c.median, spread.Median(), "median")
			require.Equal(t, c.p90, spread.P90(), "p90")
		})
	}
}

func TestDurations_bucketsHoldEveryDelivery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minutes []db.MinuteCount
		width   time.Duration
		counts  []int64
	}{
		"none":                 {nil, 0, nil},
		"short":                {[]db.MinuteCount{{Minutes: 9, Count: 2}, {Minutes: 10, Count: 3}, {Minutes: 25, Count: 1}}, 10 * time.Minute, []int64{2, 3, 1, 0, 0, 0}},
		"hours":                {[]db.MinuteCount{{Minutes: 30, Count: 1}, {Minutes: 500, Count: 1}}, time.Hour, []int64{1, 0, 0, 0, 0, 0, 0, 0, 1}},
		"the slowest share":    {[]db.MinuteCount{{Minutes: 5, Count: 90}, {Minutes: 15, Count: 9}, {Minutes: 9999, Count: 1}}, 10 * time.Minute, []int64{90, 9, 0, 0, 0, 1}},
		"longer than any step": {[]db.MinuteCount{{Minutes: 600 * 1440, Count: 1}}, 28 * 24 * time.Hour, []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
		"clocks that disagree": {[]db.MinuteCount{{Minutes: -20, Count: 1}, {Minutes: 5, Count: 1}}, 10 * time.Minute, []int64{2, 0, 0, 0, 0, 0}},
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

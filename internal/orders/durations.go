package orders

import (
	"maps"
	"slices"
	"time"
)

// Durations is the distribution of delivery times, to the minute.
type Durations struct {
	// Count is the number of deliveries.
	Count int64
	// minutes are in ascending order.
	minutes []minuteCount
}

// minuteCount is the number of deliveries that took so many whole minutes.
type minuteCount struct{ minutes, count int64 }

// newDurations makes it of the numbers of deliveries by the whole minutes that they took.
func newDurations(counts map[int64]int64) Durations {
	var durations Durations
	for _, minutes := range slices.Sorted(maps.Keys(counts)) {
		durations.minutes = append(durations.minutes, minuteCount{minutes, counts[minutes]})
		durations.Count += counts[minutes]
	}
	return durations
}

// Median is the 50th percentile.
func (s Durations) Median() time.Duration { return s.percentile(50) }

// P90 is the 90th percentile.
func (s Durations) P90() time.Duration { return s.percentile(90) }

// percentile is exact, by nearest rank.
func (s Durations) percentile(percent int64) time.Duration {
	rank := (s.Count*percent + 99) / 100
	for _, row := range s.minutes {
		if rank -= row.count; rank <= 0 {
			return time.Duration(row.minutes) * time.Minute
		}
	}
	return 0
}

// Bucket counts the deliveries that took at least From and less than Until. The last bucket also
// counts longer ones.
type Bucket struct {
	From, Until time.Duration
	Count       int64
}

// bucketWidths are the possible bucket widths.
var bucketWidths = []time.Duration{
	10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour,
	12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour, 28 * 24 * time.Hour,
}

// minBuckets is the smallest number of buckets in a histogram.
const minBuckets = 6

// Buckets returns a histogram with equal bucket widths and at most the given number of buckets. The
// slowest 2 % share the last bucket, so that outliers do not compress the rest.
func (s Durations) Buckets(most int) []Bucket {
	if s.Count == 0 {
		return nil
	}
	slow := s.percentile(98)
	width := bucketWidths[len(bucketWidths)-1]
	for _, candidate := range bucketWidths {
		if slow < time.Duration(most)*candidate {
			width = candidate
			break
		}
	}
	buckets := make([]Bucket, min(max(int(slow/width)+1, minBuckets), most))
	for i := range buckets {
		buckets[i].From, buckets[i].Until = time.Duration(i)*width, time.Duration(i+1)*width
	}
	for _, row := range s.minutes {
		at := min(int(time.Duration(row.minutes)*time.Minute/width), len(buckets)-1)
		buckets[max(at, 0)].Count += row.count
	}
	return buckets
}

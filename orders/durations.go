package orders

import (
	"time"

	"despacho/db"
)

// Durations is how long deliveries took, to the minute.
type Durations struct {
	// Count is how many deliveries there were.
	Count int64
	// minutes go from the quickest to the slowest.
	minutes []db.MinuteCount
}

func newDurations(minutes []db.MinuteCount) Durations {
	spread := Durations{minutes: minutes}
	for _, row := range minutes {
		spread.Count += row.Count
	}
	return spread
}

// Median is the time that half of the deliveries took at most.
func (s Durations) Median() time.Duration { return s.percentile(50) }

// P90 is the time that nine deliveries out of ten took at most.
func (s Durations) P90() time.Duration { return s.percentile(90) }

// percentile is exact, by nearest rank: the shortest time that the given part of all deliveries did
// not exceed.
func (s Durations) percentile(percent int64) time.Duration {
	rank := (s.Count*percent + 99) / 100
	for _, row := range s.minutes {
		if rank -= row.Count; rank <= 0 {
			return time.Duration(row.Minutes) * time.Minute
		}
	}
	return 0
}

// Bucket counts the deliveries that took From at least and less than Until. The last bucket of a
// spread has no end.
type Bucket struct {
	From, Until time.Duration
	Count       int64
}

// bucketWidths are steps that people count time in.
var bucketWidths = []time.Duration{
	10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour, 28 * 24 * time.Hour,
}

// fewestBuckets keeps a spread recognizable as one.
const minBuckets = 6

// Buckets divides the deliveries into steps of equal length, at most so many. The few slowest share
// the last one, so that they do not push all the others together.
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
		at := min(int(time.Duration(row.Minutes)*time.Minute/width), len(buckets)-1)
		buckets[max(at, 0)].Count += row.Count
	}
	return buckets
}

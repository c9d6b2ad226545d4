package clock

import "time"

const (
	// MinYear and MaxYear are the first and the last year that a time from outside may be in.
	MinYear, MaxYear = 2000, 2100
	// RangeMessage is what a caller is told about a time that is not InRange.
	RangeMessage = "debe estar entre los años 2000 y 2100"
)

// InRange reports whether a time from outside is within those years in UTC. Others are
// typing errors, and JSON and the databases do not accept every year: 9999-12-31T23:59:59-12:00 is
// in the year 10000, which has no RFC 3339 form.
func InRange(t time.Time) bool {
	year := t.UTC().Year()
	return year >= MinYear && year <= MaxYear
}

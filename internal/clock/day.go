package clock

import "time"

// DayStart is the first instant of a day in a time zone. If clocks change at midnight, time.Date is
// not enough: midnight may be skipped or occur twice.
func DayStart(day time.Time, zone *time.Location) time.Time {
	start := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
	if start.Day() != day.Day() {
		_, start = start.ZoneBounds()
	} else if earlier := start.Add(-time.Hour); earlier.Day() == day.Day() {
		start = earlier
	}
	return start.UTC()
}

package clock

import "time"

// UntilNextMinute is how long the clock minute still lasts.
func UntilNextMinute(now time.Time) time.Duration { return untilNext(now, time.Minute) }

// UntilNextDay is how long the day still lasts, in UTC.
func UntilNextDay(now time.Time) time.Duration { return untilNext(now, 24*time.Hour) }

func untilNext(now time.Time, window time.Duration) time.Duration {
	return now.Truncate(window).Add(window).Sub(now)
}

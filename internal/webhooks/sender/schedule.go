package sender

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest Retry-After that is honoured.
const MaxRetryAfter = 24 * time.Hour

// retryDelays are the delays before each attempt of a webhook with retries.
var retryDelays = [...]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
}

// MaxAttempts is the number of attempts of a webhook with retries.
const MaxAttempts = len(retryDelays)

// jitter is the relative random variation of a delay.
const jitter = 0.2

// NextDelay is the delay after the given number of attempts, at least retryAfter, or false if no
// attempt is left. rnd returns numbers in [0, 1).
func NextDelay(attempts int, retryAfter time.Duration, rnd func() float64) (time.Duration, bool) {
	if attempts < 0 || attempts >= MaxAttempts {
		return 0, false
	}
	factor := 1 - jitter + 2*jitter*rnd()
	wait := time.Duration(float64(retryDelays[attempts]) * factor)
	return max(wait, min(retryAfter, MaxRetryAfter)), true
}

// parseRetryAfter parses both forms of the header, seconds and date; an invalid value is 0.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(MaxRetryAfter/time.Second) {
			return MaxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), MaxRetryAfter)
}

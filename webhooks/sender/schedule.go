package sender

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that a receiver can ask for.
const MaxRetryAfter = 24 * time.Hour

// waits come before each attempt of a webhook that asked for retries.
var retryDelays = [...]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
}

// MaxAttempts is how often an event is sent to a webhook that asked for retries.
const MaxAttempts = len(retryDelays)

// jitter is the share by which a wait may be shorter or longer, so that failures do not return in
// step.
const jitter = 0.2

// NextDelay is the wait before the next attempt when so many were made, never shorter than the
// receiver asked for, or false when none is left. rnd gives numbers in [0, 1).
func NextDelay(attempts int, retryAfter time.Duration, rnd func() float64) (time.Duration, bool) {
	if attempts < 0 || attempts >= MaxAttempts {
		return 0, false
	}
	factor := 1 - jitter + 2*jitter*rnd()
	wait := time.Duration(float64(retryDelays[attempts]) * factor)
	return max(wait, min(retryAfter, MaxRetryAfter)), true
}

// parseRetryAfter reads both forms of the header, seconds and date; what it cannot read asks for
// nothing.
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

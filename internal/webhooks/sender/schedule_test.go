package sender

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func constant(number float64) func() float64 {
	return func() float64 { return number }
}

func TestNextDelayFollowsTheSchedule(t *testing.T) {
	t.Parallel()
	schedule := []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour}
	require.Len(t, schedule, MaxAttempts)
	for attempts, wait := range schedule {
		shortest, more := NextDelay(attempts, 0, constant(0))
		require.True(t, more)
		middle, _ := NextDelay(attempts, 0, constant(0.5))
		longest, _ := NextDelay(attempts, 0, constant(1))

		within := float64(time.Microsecond)
		require.InDelta(t, 0.8*float64(wait), float64(shortest), within)
		require.InDelta(t, float64(wait), float64(middle), within)
		require.InDelta(t, 1.2*float64(wait), float64(longest), within)
	}
	for _, attempts := range []int{-1, MaxAttempts, MaxAttempts + 1} {
		_, more := NextDelay(attempts, time.Hour, constant(0.5))
		require.False(t, more, "%d attempts", attempts)
	}
}

func TestNextDelayHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		attempts   int
		retryAfter time.Duration
		want       time.Duration
	}{
		"longer than the schedule":  {1, time.Minute, time.Minute},
		"shorter than the schedule": {2, time.Minute, 5 * time.Minute},
		"longer than a day":         {1, 48 * time.Hour, 24 * time.Hour},
		"negative":                  {1, -time.Hour, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			delay, more := NextDelay(test.attempts, test.retryAfter, constant(0.5))
			require.True(t, more)
			require.Equal(t, test.want, delay)
		})
	}
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"120":                           2 * time.Minute,
		" 7 ":                           7 * time.Second,
		"86401":                         MaxRetryAfter,
		"99999999999999999999999":       MaxRetryAfter,
		"9223372036854775807":           MaxRetryAfter,
		"-5":                            0,
		"1.5":                           0,
		"pronto":                        0,
		"Thu, 01 Jan 2026 00:30:00 GMT": 30 * time.Minute,
		"Wed, 31 Dec 2025 23:59:00 GMT": 0,
		"Sun, 01 Feb 2026 00:00:00 GMT": MaxRetryAfter,
	} {
		require.Equal(t, want, parseRetryAfter(value, now), "%q", value)
	}
}

// infiniteReader returns letters without end and counts them.
type infiniteReader struct {
	given int
}

func (e *infiniteReader) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = 'a'
	}
	e.given += len(into)
	return len(into), nil
}

func TestReadResponseStopsAtTheCap(t *testing.T) {
	t.Parallel()
	source := &infiniteReader{}
	kept, err := readResponse(&http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(source)})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("a", 1024), kept)
	require.LessOrEqual(t, source.given, 64<<10)
}

func TestExcerptIsShortValidText(t *testing.T) {
	t.Parallel()
	filler := func(length int) string { return strings.Repeat("a", length) }
	for name, test := range map[string]struct{ answer, want string }{
		"empty":                          {"", ""},
		"short":                          {"recibido", "recibido"},
		"exactly the limit":              {filler(1024), filler(1024)},
		"one over":                       {filler(1025), filler(1024)},
		"character inside the limit":     {filler(1022) + "ñ" + "b", filler(1022) + "ñ"},
		"character across the limit":     {filler(1023) + "ñ", filler(1023)},
		"wide character across":          {filler(1021) + "🛵", filler(1021)},
		"NUL":                            {"a\x00b", "a\uFFFDb"},
		"invalid bytes":                  {"a\xff\xfeb", "a\uFFFDb"},
		"replacement that does not fit":  {filler(1022) + "\xff", filler(1022)},
		"nothing but continuation bytes": {strings.Repeat("\x80", 4096), "\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := excerpt([]byte(test.answer))
			require.Equal(t, test.want, text)
			require.True(t, utf8.ValidString(text))
			require.LessOrEqual(t, len(text), 1024)
		})
	}
}

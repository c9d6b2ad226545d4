package telemetry

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestErrorLog_growingIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		problems := &errorLog{log: slog.New(slog.NewTextHandler(&out, nil))}
		lines := func() int { return strings.Count(out.String(), "\n") }
		failFor := func(outage time.Duration) {
			for end := time.Now().Add(outage); time.Now().Before(end); time.Sleep(5 * time.Second) {
				problems.Handle(errors.New("connection refused"))
			}
		}

		problems.Handle(errors.New("connection refused"))
		require.Equal(t, 1, lines(), "the first is said at once")
		require.Contains(t, out.String(), "connection refused")

		failFor(50 * time.Second)
		require.Equal(t, 1, lines(), "more of the same within a minute is not")

		failFor(24 * time.Hour)
		require.Less(t, lines(), 31, "a day's outage is a handful of lines, at most one an hour in the end")
		require.Greater(t, lines(), 20, "and it is not forgotten either")
		require.Contains(t, out.String(), "unsaid=719", "each says how many were not")

		before := lines()
		time.Sleep(time.Hour)
		problems.Handle(errors.New("connection refused"))
		require.Equal(t, before+1, lines(), "after a calm the next one is news again")
	})
}

func TestErrorLog_longTextIsCut(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	problems := &errorLog{log: slog.New(slog.NewTextHandler(&out, nil))}
	problems.Handle(errors.New(strings.Repeat("página ", 10_000)))
	require.Less(t, out.Len(), 2*maxErrorLength)
}

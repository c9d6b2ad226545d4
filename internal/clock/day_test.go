package clock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
)

// Days are in the operator's time zone, also when clocks change.
func TestDayStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, day, start string }{
		{"America/Lima", "2026-03-10", "2026-03-10T05:00:00Z"},
		{"UTC", "2026-03-10", "2026-03-10T00:00:00Z"},
		{"Asia/Tokyo", "2026-03-10", "2026-03-09T15:00:00Z"},
		{"America/Santiago", "2026-04-04", "2026-04-04T03:00:00Z"},
		{"America/Santiago", "2026-04-06", "2026-04-06T04:00:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z"}, // the day begins at one
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},   // and here at midnight twice
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		day, err := time.Parse(time.DateOnly, c.day)
		require.NoError(t, err)
		require.Equal(t, c.start, clock.DayStart(day, zone).Format(time.RFC3339), "%s in %s", c.day, c.zone)
	}
}

// Every day ends where the next begins, in every time zone.
func TestDayStart_leavesNothingBetweenDays(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"America/Lima", "America/Santiago", "America/Asuncion", "America/Havana", "America/Sao_Paulo", "Asia/Beirut", "Australia/Lord_Howe"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for day := time.Date(2015, time.January, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2027; day = day.AddDate(0, 0, 1) {
			start := clock.DayStart(day, zone).In(zone)
			require.Equal(t, day.Format(time.DateOnly), start.Format(time.DateOnly), name)
			require.Equal(t, day.AddDate(0, 0, -1).Format(time.DateOnly), start.Add(-time.Second).Format(time.DateOnly), "before %s in %s", day, name)
		}
	}
}

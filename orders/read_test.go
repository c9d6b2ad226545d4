package orders

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
)

// Days are the operator's, also where clocks are changed.
func TestDayStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, day, start string }{
		{"America/Lima", "2026-03-10", "2026-03-10T05:00:00Z"},
		{"UTC", "2026-03-10", "2026-03-10T00:00:00Z"},
		{"Asia/Tokyo", "2026-03-10", "2026-03-09T15:00:00Z"},
		{"America/Santiago", "2026-04-04", "2026-04-04T03:00:00Z"},
		{"America/Santiago", "2026-04-06", "2026-04-06T04:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		day, err := time.Parse(time.DateOnly, c.day)
		require.NoError(t, err)
		require.Equal(t, c.start, dayStart(day, zone).Format(time.RFC3339), "%s in %s", c.day, c.zone)
	}
}

// The operative day is the operator's local date.
func TestOperativeDay(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.March, 10, 4, 59, 59, 0, time.UTC)
	require.Equal(t, "2026-03-09", operativeDay(at, &models.Operator{Timezone: "America/Lima"}))
	require.Equal(t, "2026-03-10", operativeDay(at.Add(time.Second), &models.Operator{Timezone: "America/Lima"}))
	require.Equal(t, "2026-03-10", operativeDay(at, &models.Operator{Timezone: "Asia/Tokyo"}))
}

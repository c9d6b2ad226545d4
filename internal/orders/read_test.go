package orders

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
)

// The operative day is the operator's local date.
func TestOperativeDay(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.March, 10, 4, 59, 59, 0, time.UTC)
	require.Equal(t, "2026-03-09", operativeDay(at, &models.Operator{Timezone: "America/Lima"}))
	require.Equal(t, "2026-03-10", operativeDay(at.Add(time.Second), &models.Operator{Timezone: "America/Lima"}))
	require.Equal(t, "2026-03-10", operativeDay(at, &models.Operator{Timezone: "Asia/Tokyo"}))
}

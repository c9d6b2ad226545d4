package orders

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/models"
)

// What was taken back is no fact, and neither is taking it back.
func TestStepsOf_withoutWhatWasUndone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.March, 10, 15, 0, 0, 0, time.UTC)
	types := func(names ...string) (left []string) {
		moves := make([]models.TimelineEntry, len(names))
		for i, name := range names {
			moves[i] = models.TimelineEntry{Type: name, At: at.Add(time.Duration(i) * time.Minute)}
		}
		for _, step := range stepsOf(moves) {
			left = append(left, step.Type)
		}
		return left
	}
	require.Equal(t, []string{"created", "received", "assigned", "delivered"},
		types("created", "received", "assigned", "delivered", "undone", "delivered"))
	require.Equal(t, []string{"created"}, types("created", "received", "undone"))
	require.Equal(t, []string{"created", "received", "assigned", "attempt_failed"},
		types("created", "received", "assigned", "delivered", "undone", "attempt_failed", "undone", "attempt_failed"))
}

// A step has the time when a rider made it, and none comes before the one that it followed.
func TestStepsOf_times(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.March, 10, 15, 0, 0, 0, time.UTC)
	early, late := at.Add(-time.Hour), at.Add(10*time.Minute)
	steps := stepsOf([]models.TimelineEntry{
		{Type: "assigned", At: at}, {Type: "attempt_failed", At: at.Add(time.Hour), OccurredAt: &late}, {Type: "delivered", At: at.Add(2 * time.Hour), OccurredAt: &early},
	})
	require.Equal(t, []time.Time{at, late, late}, []time.Time{steps[0].At, steps[1].At, steps[2].At})
}

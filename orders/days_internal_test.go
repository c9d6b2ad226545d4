package orders

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A day that has lost its last order is forgotten when it is read again; days around the run stay.
func TestKnownDays_replace(t *testing.T) {
	t.Parallel()
	known := knownDays[string]{byDay: map[int64]string{1: "before", 2: "changed", 3: "without orders", 5: "after"}}
	known.replace(dayRun{2, 4}, map[int64]string{2: "read again", 4: "new"})
	require.Equal(t, map[int64]string{1: "before", 2: "read again", 4: "new", 5: "after"}, known.byDay)
}

// Runs have no gap that is not read, and few runs are read one by one.
func TestRunsOf(t *testing.T) {
	t.Parallel()
	require.Empty(t, runsOf(nil))
	require.Equal(t, []dayRun{{1, 3}, {5, 5}, {7, 8}}, runsOf([]int64{1, 2, 3, 5, 7, 8}))
	var scattered []int64
	for i := range int64(maxRuns + 1) {
		scattered = append(scattered, 2*i)
	}
	require.Len(t, runsOf(scattered[:maxRuns]), maxRuns)
	require.Equal(t, []dayRun{{0, 2 * maxRuns}}, runsOf(scattered))
}

package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
)

// What a worker that died keeps its orders waiting, before another takes over, leaves the caller of
// a move half of its time for the move itself.
func TestWorkerOptions_stickyTimeoutBelowMoveTimeout(t *testing.T) {
	t.Parallel()
	takesOver := workerOptions(time.Second).StickyScheduleToStartTimeout
	require.Positive(t, takesOver, "zero is the SDK's default of 5 seconds")
	require.LessOrEqual(t, takesOver, config.DefaultTimeouts().Move/2)
}

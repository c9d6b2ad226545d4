package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/config"
)

// After a crash of the worker that has a run cached, the sticky timeout leaves the caller half of
// the move timeout.
func TestWorkerOptions_stickyTimeoutBelowMoveTimeout(t *testing.T) {
	t.Parallel()
	takesOver := workerOptions(Options{StopTimeout: time.Second}).StickyScheduleToStartTimeout
	require.Positive(t, takesOver, "zero is the SDK's default of 5 seconds")
	require.LessOrEqual(t, takesOver, config.DefaultTimeouts().Move/2)
}

package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"despacho/internal/config"
)

// After a crash of the worker that has a run cached, the sticky timeout leaves the caller half of
// the move timeout.
func TestWorkerOptions_stickyTimeoutBelowMoveTimeout(t *testing.T) {
	t.Parallel()
	takesOver := workerOptions(Options{StopTimeout: time.Second}, worker.DeploymentOptions{}).StickyScheduleToStartTimeout
	require.Positive(t, takesOver, "zero is the SDK's default of 5 seconds")
	require.LessOrEqual(t, takesOver, config.DefaultTimeouts().Move/2)
}

// A workflow task that is lost is given out again before the move that waits for it is given up.
func TestTimeouts_lostTaskBelowMoveTimeout(t *testing.T) {
	t.Parallel()
	timeouts := config.DefaultTimeouts()
	require.LessOrEqual(t, timeouts.WorkflowTask, timeouts.Move*3/4)
}

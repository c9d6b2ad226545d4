package workflows_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"despacho/worker"
	"despacho/workflows"
)

var discardLogger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))

// recordings lists the recorded histories, written by `make record`.
func recordings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// Running orders survive a deployment: every recorded history replays on the current workflow.
func TestReplay_everyRecording(t *testing.T) {
	t.Parallel()
	for _, file := range recordings(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			replayer := sdkworker.NewWorkflowReplayer()
			worker.Register(replayer)
			require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(discardLogger, file))
		})
	}
}

// An incompatible workflow change fails the replay.
func TestReplay_catchesAnIncompatibleChange(t *testing.T) {
	t.Parallel()
	changed := func(ctx workflow.Context, in workflows.OrderInput) error {
		workflow.ExecuteActivity(workflow.WithStartToCloseTimeout(ctx, time.Second), "SomethingNew")
		return workflows.Order(ctx, in)
	}
	for _, file := range recordings(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if name == "simulation" || name == "delivery" || name == "redelivery" || name == "reconcile" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replayer := sdkworker.NewWorkflowReplayer()
			replayer.RegisterWorkflowWithOptions(changed, workflow.RegisterOptions{Name: workflows.OrderWorkflowName})
			require.ErrorContains(t, replayer.ReplayWorkflowHistoryFromJSONFile(discardLogger, file), "TMPRL1100")
		})
	}
}

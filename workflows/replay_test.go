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

// recordings are histories of every path, written by `make record`.
func recordings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// Orders that are under way when a new version is deployed go on with it: every recorded history
// can be replayed.
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

// The recordings catch a change that running orders would not survive.
func TestReplay_catchesAnIncompatibleChange(t *testing.T) {
	t.Parallel()
	changed := func(ctx workflow.Context, in workflows.OrderInput) error {
		workflow.ExecuteActivity(workflow.WithStartToCloseTimeout(ctx, time.Second), "SomethingNew")
		return workflows.Order(ctx, in)
	}
	for _, file := range recordings(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if name == "delivery" || name == "redelivery" || name == "reconcile" {
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

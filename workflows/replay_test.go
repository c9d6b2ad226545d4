package workflows_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"despacho/worker"
	"despacho/workflows"
)

var discardLogger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))

// recordings lists the recorded histories: those of `make record`, and in folders those of
// releases.
func recordings(t *testing.T) []string {
	t.Helper()
	current, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, current)
	released, err := filepath.Glob(filepath.Join("testdata", "*", "*.json"))
	require.NoError(t, err)
	return append(current, released...)
}

func newReplayer(t *testing.T) sdkworker.WorkflowReplayer {
	t.Helper()
	replayer, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{
		Interceptors: []interceptor.WorkerInterceptor{&workflows.SignalOrder{}},
	})
	require.NoError(t, err)
	return replayer
}

// Running orders survive a deployment: every recorded history replays on the current workflow.
func TestReplay_everyRecording(t *testing.T) {
	t.Parallel()
	for _, file := range recordings(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			replayer := newReplayer(t)
			worker.Register(replayer)
			require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(discardLogger, file))
		})
	}
}

// A change that running workflows do not survive fails the replay. With a change id, as
// docs/operations.md shows it, histories from before it replay as they were made.
func TestReplay_catchesAnIncompatibleChange(t *testing.T) {
	t.Parallel()
	somethingNew := func(ctx workflow.Context) {
		workflow.ExecuteActivity(workflow.WithStartToCloseTimeout(ctx, time.Second), "SomethingNew")
	}
	replay := func(file string, change func(workflow.Context)) error {
		replayer := newReplayer(t)
		replayer.RegisterWorkflowWithOptions(func(ctx workflow.Context, in workflows.OrderInput) error {
			change(ctx)
			return workflows.Order(ctx, in)
		}, workflow.RegisterOptions{Name: workflows.OrderWorkflowName})
		return replayer.ReplayWorkflowHistoryFromJSONFile(discardLogger, file)
	}
	for _, file := range recordings(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if name == "simulation" || name == "reconcile" {
			continue // they are of other workflows
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, replay(file, somethingNew), "TMPRL1100")
			require.NoError(t, replay(file, func(ctx workflow.Context) {
				if workflow.GetVersion(ctx, "something-new", workflow.DefaultVersion, 1) == 1 {
					somethingNew(ctx)
				}
			}))
		})
	}
}

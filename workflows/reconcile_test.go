package workflows_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"despacho/workflows"
)

// A failed part does not keep the others from running, and fails the workflow.
func TestReconcile(t *testing.T) {
	t.Parallel()
	parts := []string{workflows.StartMissingActivity, workflows.ClearExpiredActivity}
	for _, failing := range append([]string{""}, parts...) {
		t.Run("failing: "+failing, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(&logBuffer{})
			var mu sync.Mutex
			var ran []string
			for _, part := range parts {
				env.RegisterActivityWithOptions(func(context.Context) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					ran = append(ran, part)
					if part == failing {
						return 0, errors.New("the database is down")
					}
					return 1, nil
				}, activity.RegisterOptions{Name: part})
			}
			env.ExecuteWorkflow(workflows.Reconcile, workflows.ReconcileInput{})
			require.True(t, env.IsWorkflowCompleted())
			if failing == "" {
				require.NoError(t, env.GetWorkflowError())
			} else {
				require.ErrorContains(t, env.GetWorkflowError(), "the database is down")
			}
			require.ElementsMatch(t, parts, ran, "each once: the next turn tries again")
		})
	}
}

// A scheduled run is one activity, however long it goes on: idle, it costs few Temporal actions.
func TestReconcile_scheduledRunIsOneActivity(t *testing.T) {
	t.Parallel()
	env := newEnvironment(&logBuffer{})
	var ran []time.Duration
	env.RegisterActivityWithOptions(func(_ context.Context, duration time.Duration) error {
		ran = append(ran, duration)
		return nil
	}, activity.RegisterOptions{Name: workflows.ReconcileActivity})
	env.ExecuteWorkflow(workflows.Reconcile, workflows.ReconcileInput{For: workflows.ReconcileFor})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []time.Duration{workflows.ReconcileFor}, ran)
}

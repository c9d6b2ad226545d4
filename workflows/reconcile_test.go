package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"despacho/workflows"
)

// What fails, fails the workflow, and is tried again by the next run.
func TestReconcile_fails(t *testing.T) {
	t.Parallel()
	env := newEnvironment(&logBuffer{})
	ran := 0
	env.RegisterActivityWithOptions(func(context.Context, time.Duration) error {
		ran++
		return errors.New("the database is down")
	}, activity.RegisterOptions{Name: workflows.ReconcileActivity})
	env.ExecuteWorkflow(workflows.Reconcile, workflows.ReconcileInput{})
	require.True(t, env.IsWorkflowCompleted())
	require.ErrorContains(t, env.GetWorkflowError(), "the database is down")
	require.Equal(t, 1, ran)
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

package workflows_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"despacho/models"
	"despacho/workflows"
)

// A failed part does not keep the others from running, and fails the workflow.
func TestReconcile(t *testing.T) {
	t.Parallel()
	parts := []string{workflows.StartMissingActivity, workflows.DriveDeliveriesActivity, workflows.ClearExpiredActivity}
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

// A delivery outside its order's workflow is retried as the activity's error says.
func TestDelivery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcomes []error
		took     time.Duration
		fails    bool
	}{
		"delivered at once": {outcomes: []error{nil}},
		"delivered at last": {outcomes: []error{workflows.RetryWebhook("503", 5*time.Minute), workflows.RetryWebhook("503", 30*time.Minute), nil}, took: 35 * time.Minute},
		"given up":          {outcomes: []error{workflows.RetryWebhook("503", 5*time.Minute), workflows.WebhookFailed("410")}, took: 5 * time.Minute, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(&logBuffer{})
			delivery := workflows.WebhookDeliveryRef{ID: uuid.New(), WebhookID: uuid.New(), Event: models.EventDelivered, Host: "tienda.example", Retry: true}
			tries := 0
			env.RegisterActivityWithOptions(func(_ context.Context, id uuid.UUID) error {
				require.Equal(t, delivery.ID, id)
				tries++
				return c.outcomes[tries-1]
			}, activity.RegisterOptions{Name: workflows.SendWebhookActivity})
			env.ExecuteWorkflow(workflows.Delivery, delivery)
			require.True(t, env.IsWorkflowCompleted())
			require.Equal(t, c.fails, env.GetWorkflowError() != nil)
			require.Equal(t, len(c.outcomes), tries)
			require.Equal(t, start.Add(c.took), env.Now().UTC())
		})
	}
}

func TestHostOf_hidesWhatMayBeSecret(t *testing.T) {
	t.Parallel()
	require.Equal(t, "tienda.example:8443", workflows.HostOf("https://user:secret@tienda.example:8443/hook?token=secret"))
	require.Empty(t, workflows.HostOf("://"))
}

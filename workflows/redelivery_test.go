package workflows_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"despacho/workflows"
)

// A receiver that refuses an event again does not fail the workflow that sent it; what kept the
// event from being sent does.
func TestRedelivery_outcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outcome error
		fails   bool
	}{
		"taken":    {nil, false},
		"refused":  {workflows.WebhookFailed("el receptor respondió 500"), false},
		"not sent": {temporal.NewNonRetryableApplicationError("sin base de datos", "internal", errors.New("x")), true},
	} {
		var suite testsuite.WorkflowTestSuite
		environment := suite.NewTestWorkflowEnvironment()
		environment.RegisterActivityWithOptions(func(context.Context, uuid.UUID) error { return test.outcome }, activity.RegisterOptions{Name: workflows.ResendWebhookActivity})
		environment.ExecuteWorkflow(workflows.Redelivery, []workflows.WebhookDeliveryRef{{ID: uuid.New(), WebhookID: uuid.New()}})
		require.True(t, environment.IsWorkflowCompleted(), name)
		require.Equal(t, test.fails, environment.GetWorkflowError() != nil, name)
	}
}

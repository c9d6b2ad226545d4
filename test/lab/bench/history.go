package bench

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/test/lab/cluster"
	"despacho/workflows"
)

const (
	// settleTimeout bounds how long Temporal may take to work off its backlog.
	settleTimeout = 5 * time.Minute
	// settleInterval is the pause between two questions whether it has. Creations return long before
	// their workflows run, bare starts when they do: more questions would take processor time from
	// creations alone.
	settleInterval = 100 * time.Millisecond
)

func workflowOf(order uuid.UUID) string { return workflows.OrderWorkflowID(order) }

// settled waits until the first workflow task of each of these workflows has completed. They are
// the last that a load started: by then nearly all of its work is done, and little is left to slow
// down the next measurement.
func (s *stack) settled(workflowIDs []string) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, workflowID := range workflowIDs {
			if workflowID == "" {
				continue
			}
			if err := s.waitFor(ctx, workflowID, settleInterval, isIdle); err != nil {
				return err
			}
		}
		return nil
	}
}

// waitForIdle returns when a run has begun and has no pending task or activity.
func (s *stack) waitForIdle(ctx context.Context, workflowID string) error {
	return s.waitFor(ctx, workflowID, cluster.PollInterval, isIdle)
}

func isIdle(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	return described.PendingWorkflowTask == nil && len(described.PendingActivities) == 0 &&
		described.WorkflowExecutionInfo.HistoryLength >= 4
}

func (s *stack) waitFor(
	ctx context.Context, workflowID string, interval time.Duration,
	reached func(*workflowservice.DescribeWorkflowExecutionResponse) bool,
) error {
	return cluster.PollEvery(ctx, interval, settleTimeout, workflowID+" is still at work", func() (bool, error) {
		described, err := s.Client.DescribeWorkflowExecution(ctx, workflowID, "")
		var missing *serviceerror.NotFound // not started by the creation: the reconcile workflow will
		if errors.As(err, &missing) {
			return false, nil
		}
		return err == nil && reached(described), err
	})
}

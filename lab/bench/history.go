package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/workflows"
)

// settleTimeout bounds how long Temporal may take to work off its backlog.
const settleTimeout = 5 * time.Minute

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
			if err := s.waitForIdle(ctx, workflowID); err != nil {
				return err
			}
		}
		return nil
	}
}

// waitForIdle returns when a run has begun and has no pending task or activity.
func (s *stack) waitForIdle(ctx context.Context, workflowID string) error {
	return s.waitFor(ctx, workflowID, func(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
		return described.PendingWorkflowTask == nil && len(described.PendingActivities) == 0 && described.WorkflowExecutionInfo.HistoryLength >= 4
	})
}

func (s *stack) waitForEnd(ctx context.Context, workflowID string) error {
	return s.waitFor(ctx, workflowID, func(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
		return described.WorkflowExecutionInfo.Status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED
	})
}

func (s *stack) waitFor(ctx context.Context, workflowID string, reached func(*workflowservice.DescribeWorkflowExecutionResponse) bool) error {
	end := time.Now().Add(settleTimeout)
	for {
		described, err := s.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
		var missing *serviceerror.NotFound // not started by the creation: the reconcile workflow will
		if err != nil && !errors.As(err, &missing) {
			return err
		}
		if err == nil && reached(described) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is still at work after %s", workflowID, settleTimeout)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *stack) historyOf(ctx context.Context, workflowID string) (*history.History, error) {
	events := s.temporal.GetWorkflowHistory(ctx, workflowID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var all history.History
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return nil, err
		}
		all.Events = append(all.Events, event)
	}
	return &all, nil
}

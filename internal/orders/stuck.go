package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/internal/db"
	"despacho/models"
	"despacho/workflows"
)

// stuckAttempts is how many workflow tasks of a run have to fail in a row before the run is
// replaced, about a minute. A worker that dies, or a release that is taken back at once, fails
// fewer.
const stuckAttempts = 5

// Stuck lists orders whose running workflow cannot go on, as Temporal reports it: its workflow
// tasks fail or time out in a row. There may be more than it returns.
func (s *Service) Stuck(ctx context.Context) ([]uuid.UUID, error) {
	page, err := s.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: listPage,
		Query: fmt.Sprintf(`WorkflowType = '%s' AND ExecutionStatus = 'Running' AND TaskQueue = '%s'
			AND TemporalReportedProblems IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')`,
			workflows.OrderWorkflowName, s.options.TaskQueue),
	})
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for _, execution := range page.GetExecutions() {
		if id, ok := subjectOf(execution.GetExecution().GetWorkflowId()); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ReplaceStuck ends the run of an order that cannot go on, because its code panics, its history
// cannot be replayed or no key decrypts a message, and starts another from the row. Everything that
// the run has done is in the row; messages that it has not handled are lost.
func (s *Service) ReplaceStuck(ctx context.Context, orderID uuid.UUID) error {
	described, err := s.temporal.DescribeWorkflowExecution(ctx, workflows.OrderWorkflowID(orderID), "")
	if isNotRunning(err) {
		return nil
	}
	if err != nil {
		return err
	}
	failed := described.GetPendingWorkflowTask().GetAttempt() - 1
	if failed < stuckAttempts {
		return nil // it goes on again, or Temporal reports it earlier
	}
	// If this process dies before the next run is started, reconcile finds the order unconfirmed.
	err = s.db.Query(ctx).Model(&models.Order{}).Where("id = ?", orderID).UpdateColumn("workflow_started_at", nil).Error
	if err != nil {
		return err
	}
	run := described.GetWorkflowExecutionInfo().GetExecution()
	reason := fmt.Sprintf("its workflow task has failed %d times in a row", failed)
	switch err := s.temporal.TerminateWorkflow(ctx, run.GetWorkflowId(), run.GetRunId(), reason); {
	case err == nil:
		s.workflowsReplaced.Add(1)
		s.log.ErrorContext(ctx, "an order's workflow could not go on and was ended; another starts from the row",
			"order_id", orderID, "run_id", run.GetRunId(), "failed_workflow_tasks", failed)
	case !isNotRunning(err): // another reconcile may have ended it
		return err
	}
	if err := s.Reconcile(ctx, orderID); !db.IsNotFound(err) {
		return err
	}
	return nil
}

// WorkflowsReplaced is how many workflows this process has ended because they could not go on.
func (s *Service) WorkflowsReplaced() int64 { return s.workflowsReplaced.Load() }

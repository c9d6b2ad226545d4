package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/workflows"
)

// compareHourly compares the database with Temporal once an hour, and when the process has started:
// a backup is restored while no worker runs.
func (a *Activities) compareHourly(ctx context.Context) error {
	if a.compared.Load() && a.Clock.Now().Minute() != 0 {
		return nil
	}
	err := a.CompareWithTemporal(ctx)
	if err == nil {
		a.compared.Store(true)
	}
	return err
}

// settledAfter is how long after its last move an ended order's workflow has completed.
const settledAfter = 2 * time.Minute

// CompareWithTemporal looks for running workflows that do not belong to an open order, as after one
// of the two databases was restored from an older copy. The row decides: such a workflow is made to
// look at it, and ends. Then the other workflows may be ahead of their rows or behind, or missing:
// every open order is left to StartMissingOrders.
func (a *Activities) CompareWithTemporal(ctx context.Context) error {
	found, waiting, err := a.withoutOpenOrder(ctx)
	if err != nil {
		return err
	}
	if _, err := a.refresh(ctx, waiting); err != nil {
		return err
	}
	running, err := a.refresh(ctx, found)
	if err != nil || running == 0 {
		return err
	}
	count, err := a.DB.UnconfirmOpenOrders(ctx)
	if err == nil {
		a.Log.WarnContext(ctx, "Temporal and the database are not of the same time: workflows without an open order end, every open order's workflow reads its row",
			"without_open_order", running, "open_orders", count)
	}
	return err
}

// withoutOpenOrder returns the orders of running workflows that do not exist, or have ended and
// have nothing to send. Those of them whose workflow waits for the retry of an event are waiting:
// somebody has redelivered that event, which tells nothing about the databases.
func (a *Activities) withoutOpenOrder(ctx context.Context) (found, waiting []uuid.UUID, err error) {
	settled := a.Clock.Now().Add(-settledAfter)
	err = a.eachRunning(ctx, func(ids []uuid.UUID) error {
		missing, err := a.DB.MissingOrders(ctx, ids)
		if err != nil {
			return err
		}
		found = append(found, missing...)
		ended, err := a.DB.EndedOrders(ctx, ids, settled)
		if err != nil {
			return err
		}
		for _, id := range ended {
			switch sends, err := a.sendsWebhooks(ctx, id); {
			case err != nil:
				return err
			case sends:
				waiting = append(waiting, id)
			default:
				found = append(found, id)
			}
		}
		return nil
	})
	return found, waiting, err
}

// sendsWebhooks reports whether an order's workflow has webhook calls that have not completed.
func (a *Activities) sendsWebhooks(ctx context.Context, orderID uuid.UUID) (bool, error) {
	described, err := a.Temporal.DescribeWorkflowExecution(ctx, workflows.OrderWorkflowID(orderID), "")
	if workflows.IsNotRunning(err) {
		return false, nil // the list is of another time
	}
	return slices.ContainsFunc(described.GetPendingActivities(), func(activity *workflow.PendingActivityInfo) bool {
		return activity.GetActivityType().GetName() == workflows.SendWebhookActivity
	}), err
}

// eachRunning calls found with the orders of the running workflows, a page at a time.
func (a *Activities) eachRunning(ctx context.Context, found func(ids []uuid.UUID) error) error {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: reconcilePage,
		Query:    fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND TaskQueue = '%s'", workflows.OrderWorkflowName, a.TaskQueue),
	}
	for {
		page, err := a.Temporal.ListWorkflow(ctx, request)
		if err != nil {
			return err
		}
		var ids []uuid.UUID
		for _, execution := range page.GetExecutions() {
			if id, err := uuid.Parse(strings.TrimPrefix(execution.GetExecution().GetWorkflowId(), workflows.OrderWorkflowPrefix)); err == nil {
				ids = append(ids, id)
			}
		}
		if err := found(ids); err != nil {
			return err
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// refresh makes the workflows of these orders look at their rows and returns how many really run.
// The list may be behind, or be of another time than the workflows: they are in two databases of
// Temporal.
func (a *Activities) refresh(ctx context.Context, ids []uuid.UUID) (running int, err error) {
	for _, id := range ids {
		runs, err := workflows.SignalRefresh(ctx, a.Temporal, id)
		if err != nil {
			return running, err
		}
		if runs {
			running++
		}
	}
	return running, nil
}

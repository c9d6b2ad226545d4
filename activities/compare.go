package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/workflows"
)

// compareHourly compares the database with Temporal once an hour, and when the process has started:
// a backup is restored while no worker runs.
func (a *Activities) compareHourly(ctx context.Context, over func() bool) error {
	if a.compared.Load() && a.Clock.Now().Minute() != 0 {
		return nil
	}
	c := &comparison{Activities: a, over: over}
	complete, err := c.run(ctx)
	a.compared.Store(complete)
	return err
}

// CompareWithTemporal looks for running workflows that do not belong to an open order, as after one
// of the two databases was restored from an older copy. The row decides: such a workflow is made to
// look at it, and ends. Then the other workflows may be ahead of their rows or behind, or missing:
// every open order is left to StartMissingOrders.
func (a *Activities) CompareWithTemporal(ctx context.Context) error {
	c := &comparison{Activities: a, over: func() bool { return false }}
	_, err := c.run(ctx)
	return err
}

// settledAfter is how long after its last move an ended order's workflow has completed.
const settledAfter = 2 * time.Minute

// comparison is one pass over the running workflows.
type comparison struct {
	*Activities
	over func() bool
	// differs is set once a workflow without an open order was found.
	differs bool
}

// run compares a page of workflows at a time. What a pass that ends early has found has ended for
// the next one. Orders that fail, however many, do not keep later ones from their turn; only where
// Temporal or the database is unavailable, or after a page when the run is over, is the pass not
// complete.
func (c *comparison) run(ctx context.Context) (complete bool, failed error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: reconcilePage,
		Query:    fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND TaskQueue = '%s'", workflows.OrderWorkflowName, c.TaskQueue),
	}
	for {
		page, err := c.Temporal.ListWorkflow(ctx, request)
		if err != nil {
			return false, errors.Join(failed, err)
		}
		var ids []uuid.UUID
		for _, execution := range page.GetExecutions() {
			if id, err := uuid.Parse(strings.TrimPrefix(execution.GetExecution().GetWorkflowId(), workflows.OrderWorkflowPrefix)); err == nil {
				ids = append(ids, id)
			}
		}
		unavailable, err := c.comparePage(ctx, ids)
		if err != nil {
			failed = err
		}
		if request.NextPageToken = page.GetNextPageToken(); unavailable || len(request.NextPageToken) == 0 {
			return !unavailable, failed
		}
		if c.over() {
			return false, failed
		}
	}
}

// comparePage makes those of the orders' workflows end that do not belong to an open order. That
// the databases differ is noted first: once these workflows have ended nothing shows it any more.
func (c *comparison) comparePage(ctx context.Context, ids []uuid.UUID) (unavailable bool, failed error) {
	missing, err := c.DB.MissingOrders(ctx, ids)
	if err != nil {
		return true, err
	}
	ended, err := c.DB.EndedOrders(ctx, ids, c.Clock.Now().Add(-settledAfter))
	if err != nil {
		return true, err
	}
	var mu sync.Mutex
	var running []uuid.UUID
	found := 0
	_, unavailable, failed = c.eachOrder(ctx, "order not compared with its workflow", slices.Concat(missing, ended), func(id uuid.UUID) error {
		runs, sends, err := c.describe(ctx, id)
		mu.Lock()
		defer mu.Unlock()
		if runs {
			running = append(running, id)
		}
		// The workflow of an ended order that has nothing to send waits for the retry of an event that
		// somebody has redelivered: that tells nothing about the databases.
		if runs && !(sends && slices.Contains(ended, id)) {
			found++
		}
		return err
	})
	if found > 0 && !c.differs {
		if err := c.unconfirm(ctx, found); err != nil {
			return true, errors.Join(failed, err)
		}
	}
	_, lost, err := c.eachOrder(ctx, "order's workflow not told to look at its row", running, func(id uuid.UUID) error {
		_, err := workflows.SignalRefresh(ctx, c.Temporal, id)
		return err
	})
	return unavailable || lost, errors.Join(failed, err)
}

// unconfirm has every open order looked at, once in a pass.
func (c *comparison) unconfirm(ctx context.Context, found int) error {
	count, err := c.DB.UnconfirmOpenOrders(ctx)
	if err != nil {
		return err
	}
	c.differs = true
	c.Log.WarnContext(ctx, "Temporal and the database are not of the same time: workflows without an open order end, every open order's workflow reads its row",
		"without_open_order", found, "open_orders", count)
	return nil
}

// describe reports whether an order's workflow really runs, and whether it has webhook calls that
// have not completed. The list may be behind, or be of another time than the workflows: they are in
// two databases of Temporal.
func (c *comparison) describe(ctx context.Context, orderID uuid.UUID) (runs, sends bool, err error) {
	described, err := c.Temporal.DescribeWorkflowExecution(ctx, workflows.OrderWorkflowID(orderID), "")
	if workflows.IsNotRunning(err) {
		return false, false, nil
	}
	sends = slices.ContainsFunc(described.GetPendingActivities(), func(activity *workflow.PendingActivityInfo) bool {
		return activity.GetActivityType().GetName() == workflows.SendWebhookActivity
	})
	return described.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING, sends, err
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/models"
	"despacho/workflows"
)

// compareEvery is the time between two comparisons by one process.
const compareEvery = time.Hour

// compareHourly compares the database with Temporal once an hour, and when the process has started:
// a backup is restored while no worker runs.
func (a *Activities) compareHourly(ctx context.Context, over func() bool) error {
	if !a.comparing.TryLock() {
		return nil // the comparison of the run before has not ended yet
	}
	defer a.comparing.Unlock()
	// A negative age means that the clock was set back.
	if age := a.Clock.Now().Sub(a.pass.began); a.pass.complete && age >= 0 && age < compareEvery {
		return nil
	}
	c := &comparison{Activities: a, over: over, pass: &a.pass}
	return c.run(ctx)
}

// CompareWithTemporal looks for running workflows that do not belong to an open order, as after one
// of the two databases was restored from an older backup. The row decides: such a workflow is
// signalled to read it, and ends. The workflows of open orders may then be ahead of their rows or
// behind, or missing: StartMissingOrders reconciles every one of them.
func (a *Activities) CompareWithTemporal(ctx context.Context) error {
	c := &comparison{Activities: a, over: func() bool { return false }, pass: &comparisonPass{}}
	return c.run(ctx)
}

// settledAfter is the time within which the workflow of an ended order completes after its last
// move, and within which a late reception that started a run is in the row, or was refused.
const settledAfter = 2 * time.Minute

// comparisonPass is one pass over the running workflows. It may take several runs of Reconcile.
type comparisonPass struct {
	began time.Time
	// next is the token of the page that is compared next; nil is the first one.
	next     []byte
	complete bool
	// differs is set once a workflow without an open order was found that is not among the known.
	differs bool
	// found are the runs without an open order, and known those that the pass before had found: one
	// that does not end, because its worker cannot run it, tells nothing new about the databases.
	found, known map[string]bool
}

// begin begins another pass after one that is complete.
func (p *comparisonPass) begin(now time.Time) {
	*p = comparisonPass{began: now, found: map[string]bool{}, known: p.found}
}

// comparison is what one run of Reconcile does of a pass.
type comparison struct {
	*Activities
	over func() bool
	pass *comparisonPass
}

// run compares a page of workflows at a time, and goes on where the run before has ended. Orders
// that fail, however many, do not keep later ones from their turn; only where Temporal or the
// database is unavailable, or after a page when the run is over, is the pass not complete.
func (c *comparison) run(ctx context.Context) (failed error) {
	if c.pass.complete || c.pass.found == nil {
		c.pass.begin(c.Clock.Now())
	}
	for {
		page, err := c.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			PageSize:      ReconcilePage,
			Query:         fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND TaskQueue = '%s'", workflows.OrderWorkflowName, c.TaskQueue),
			NextPageToken: c.pass.next,
		})
		if err != nil {
			c.pass.next = nil // Temporal may not know the page any more
			return errors.Join(failed, err)
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
		if unavailable {
			return failed
		}
		c.pass.next = page.GetNextPageToken()
		if c.pass.complete = len(c.pass.next) == 0; c.pass.complete || c.over() {
			return failed
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
	var found []string
	toCompare := slices.AppendSeq(missing, maps.Keys(ended))
	_, unavailable, failed = c.eachOrder(ctx, "order not compared with its workflow", toCompare, func(id uuid.UUID) error {
		described, err := c.runOf(ctx, id)
		if described == nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		running = append(running, id)
		if state, hasEnded := ended[id]; !hasEnded || c.isUnexpected(described, state) {
			found = append(found, described.GetWorkflowExecutionInfo().GetExecution().GetRunId())
		}
		return nil
	})
	if err := c.unconfirm(ctx, found); err != nil {
		return true, errors.Join(failed, err)
	}
	_, lost, err := c.eachOrder(ctx, "order's workflow not told to look at its row", running, func(id uuid.UUID) error {
		_, err := workflows.SignalRefresh(ctx, c.Temporal, id)
		return err
	})
	return unavailable || lost, errors.Join(failed, err)
}

// unconfirm records the runs without an open order that were found. If one is new, every open order
// is reconciled, once in a pass.
func (c *comparison) unconfirm(ctx context.Context, found []string) error {
	isNew := func(run string) bool { return !c.pass.known[run] }
	if !c.pass.differs && slices.ContainsFunc(found, isNew) {
		count, err := c.DB.UnconfirmOpenOrders(ctx)
		if err != nil {
			return err
		}
		c.pass.differs = true
		c.Log.WarnContext(ctx, "Temporal and the database are not of the same time: workflows without an open order end, every open order's workflow reads its row",
			"without_open_order", len(found), "open_orders", count)
	}
	for _, run := range found {
		c.pass.found[run] = true
	}
	return nil
}

// runOf describes the run of an order's workflow; nil if none really runs. The list may be behind,
// or be of another time than the workflows: they are in two databases of Temporal.
func (c *comparison) runOf(ctx context.Context, orderID uuid.UUID) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	described, err := c.Temporal.DescribeWorkflowExecution(ctx, workflows.OrderWorkflowID(orderID), "")
	if workflows.IsNotRunning(err) {
		return nil, nil
	}
	if err != nil || described.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, err
	}
	return described, nil
}

// isUnexpected reports whether the run of an order that has ended, and has nothing to send, tells
// that the databases are not of the same time. One that waits for the retry of an event that
// somebody has redelivered does not. Nor does one that has just begun for an order that the timer
// cancelled: a late reception starts it before it is in the row.
func (c *comparison) isUnexpected(run *workflowservice.DescribeWorkflowExecutionResponse, state models.State) bool {
	sends := slices.ContainsFunc(run.GetPendingActivities(), func(activity *workflow.PendingActivityInfo) bool {
		return activity.GetActivityType().GetName() == workflows.SendWebhookActivity
	})
	began := run.GetWorkflowExecutionInfo().GetStartTime().AsTime()
	return !sends && !(state.Revivable() && c.Clock.Now().Sub(began) < settledAfter)
}

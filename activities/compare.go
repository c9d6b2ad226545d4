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
func (a *Activities) compareHourly(ctx context.Context, outOfTime func() bool) error {
	if !a.comparing.TryLock() {
		return nil // the previous run's comparison has not ended yet
	}
	defer a.comparing.Unlock()
	// A negative age means that the clock was set back.
	if age := a.Clock.Now().Sub(a.pass.began); a.pass.complete && age >= 0 && age < compareEvery {
		return nil
	}
	c := &comparison{Activities: a, outOfTime: outOfTime, pass: &a.pass}
	return c.run(ctx)
}

// CompareWithTemporal looks for running workflows that do not belong to an open order, as after one
// of the two databases was restored from an older backup. The row decides: such a workflow is
// signalled to read it, and ends. The workflows of open orders may then be ahead of their rows or
// behind, or missing: StartMissingOrders reconciles every one of them.
func (a *Activities) CompareWithTemporal(ctx context.Context) error {
	c := &comparison{Activities: a, outOfTime: func() bool { return false }, pass: &comparisonPass{}}
	return c.run(ctx)
}

// settledAfter is how long the workflow of an ended order may take to complete after the last move,
// and how long a late reception that started a run may take to be stored or refused.
const settledAfter = 2 * time.Minute

// comparisonPass is one pass over the running workflows. It may take several runs of Reconcile.
type comparisonPass struct {
	began time.Time
	// next is the token of the page that is compared next; nil is the first one.
	next     []byte
	complete bool
	// differs is set once a run without an open order was found that is not in known.
	differs bool
	// found are the runs without an open order, known those that the previous pass found. A known run
	// that has not ended, because no worker can run it, does not show again that the databases differ.
	found, known map[string]bool
}

// begin begins the pass after a complete one.
func (p *comparisonPass) begin(now time.Time) {
	*p = comparisonPass{began: now, found: map[string]bool{}, known: p.found}
}

// comparison is the part of a pass that one run of Reconcile makes.
type comparison struct {
	*Activities
	outOfTime func() bool
	pass      *comparisonPass
}

// run compares a page of workflows at a time, from where the previous run stopped. Orders that
// fail, however many, do not stop the pass. It stops before its end only if Temporal or the
// database is unavailable, or after a page when the run is over.
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
		if c.pass.complete = len(c.pass.next) == 0; c.pass.complete || c.outOfTime() {
			return failed
		}
	}
}

// comparePage ends the workflows that do not belong to an open order. It records first that the
// databases differ, which nothing shows once these workflows have ended.
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
		described, err := c.describeRun(ctx, id)
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
	if err := c.recordUnexpectedRuns(ctx, found); err != nil {
		return true, errors.Join(failed, err)
	}
	_, signalsUnavailable, err := c.eachOrder(ctx, "order's workflow not told to look at its row", running, func(id uuid.UUID) error {
		_, err := workflows.SignalRefresh(ctx, c.Temporal, id)
		return err
	})
	return unavailable || signalsUnavailable, errors.Join(failed, err)
}

// recordUnexpectedRuns records the runs without an open order that were found. If one is new, every
// open order is reconciled, once in a pass.
func (c *comparison) recordUnexpectedRuns(ctx context.Context, found []string) error {
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

// describeRun describes the running workflow of an order; nil if none runs. The list is not enough:
// it may lag, or be restored from another time, because it is in a database of its own.
func (c *comparison) describeRun(ctx context.Context, orderID uuid.UUID) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	described, err := c.Temporal.DescribeWorkflowExecution(ctx, workflows.OrderWorkflowID(orderID), "")
	if workflows.IsNotRunning(err) {
		return nil, nil
	}
	if err != nil || described.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, err
	}
	return described, nil
}

// isUnexpected reports whether the run of an ended order without pending deliveries shows that the
// databases are from different times. A run that waits for the retry of an event that somebody has
// redelivered does not. Nor does a run that has just begun for an order that the timer cancelled: a
// late reception starts the run before it is in the row.
func (c *comparison) isUnexpected(run *workflowservice.DescribeWorkflowExecutionResponse, state models.State) bool {
	sends := slices.ContainsFunc(run.GetPendingActivities(), func(activity *workflow.PendingActivityInfo) bool {
		return activity.GetActivityType().GetName() == workflows.SendWebhookActivity
	})
	began := run.GetWorkflowExecutionInfo().GetStartTime().AsTime()
	return !sends && !(state.Revivable() && c.Clock.Now().Sub(began) < settledAfter)
}

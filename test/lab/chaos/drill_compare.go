package chaos

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/test/lab/cluster"
	"despacho/workflows"
)

// awaitAgreement returns when every running workflow belongs to an open order with the same status
// and every open order has one; what does not come to agree in time is reported.
func (d *drill) awaitAgreement(ctx context.Context, c *client) error {
	began := time.Now()
	for {
		orders, err := d.readOrders(ctx, c)
		if err != nil {
			return err
		}
		orphans, disagreeing, err := d.compare(ctx, orders)
		if err != nil {
			return err
		}
		took := time.Since(began).Round(time.Second)
		if len(orphans)+len(disagreeing) == 0 {
			d.options.logf("Temporal and the rows agreed after %s", took)
		}
		if len(orphans)+len(disagreeing) == 0 || took > d.options.scaledTimeout(agreeTimeout) {
			d.report.checked(invariantOrphans, 1)
			d.report.checked(invariantAgreement, len(orders))
			for _, id := range orphans {
				d.report.violate(invariantOrphans, id, "%s: its workflow still runs after %s", d.name, took)
			}
			for id, what := range disagreeing {
				d.report.violate(invariantAgreement, id, "%s: %s", d.name, what)
			}
			return nil
		}
		d.options.logf("%d workflows without an order, %d that disagree with their row", len(orphans), len(disagreeing))
		if err := cluster.Sleep(ctx, 5*checkEvery); err != nil {
			return err
		}
	}
}

// compare lists the running workflows without an order, and the orders that disagree with theirs.
func (d *drill) compare(ctx context.Context, orders map[string]*restoredOrder) (orphans []string, disagreeing map[string]string, err error) {
	running, err := d.runningOrders(ctx)
	if err != nil {
		return nil, nil, err
	}
	checker := &checker{stack: d.stack}
	disagreeing = map[string]string{}
	for id := range running {
		if orders[id] != nil {
			continue
		}
		// Temporal's list is a database of its own: in a copy of another moment it lists workflows that
		// do not exist.
		described, err := d.Client.DescribeWorkflowExecution(ctx, workflows.OrderWorkflowPrefix+id, "")
		if err == nil && described.WorkflowExecutionInfo.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			orphans = append(orphans, id)
		}
	}
	for id, order := range orders {
		switch {
		case order.open() && !running[id]:
			disagreeing[id] = "it is " + string(order.Status) + " and has no running workflow"
		case running[id]:
			details, err := checker.detailsOf(ctx, id)
			if err != nil {
				disagreeing[id] = "its workflow cannot be asked: " + err.Error()
			} else if !strings.HasPrefix(details, "**"+order.Status.Label()+"**") {
				disagreeing[id] = "the row says " + string(order.Status) + ", the workflow " + details
			}
		}
	}
	return orphans, disagreeing, nil
}

func (d *drill) runningOrders(ctx context.Context) (map[string]bool, error) {
	running := map[string]bool{}
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", workflows.OrderWorkflowName), PageSize: 500,
	}
	for {
		list, err := d.Client.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, execution := range list.Executions {
			running[strings.TrimPrefix(execution.Execution.WorkflowId, workflows.OrderWorkflowPrefix)] = true
		}
		if request.NextPageToken = list.NextPageToken; len(request.NextPageToken) == 0 {
			return running, nil
		}
	}
}

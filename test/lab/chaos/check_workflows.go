package chaos

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"despacho/models"
	"despacho/test/lab/cluster"
	"despacho/workflows"
)

const (
	// visibilityTimeout is how long Temporal's list of workflows may lag.
	visibilityTimeout = time.Minute
	// concurrentQueries is how many workflows are queried at a time, maxQueries how often each is
	// tried.
	concurrentQueries = 8
	maxQueries        = 5
	queryTimeout      = 20 * time.Second
)

// run is one run of a workflow.
type run struct {
	id     string
	status enums.WorkflowExecutionStatus
}

// checkWorkflows checks every order's runs and queries its workflow for the status.
func checkWorkflows(ctx context.Context, c *checker) error {
	var runs map[string][]run
	var unexpected map[string]string
	end := time.Now().Add(c.options.scaledTimeout(visibilityTimeout))
	for {
		var err error
		if runs, err = c.listRuns(ctx); err != nil {
			return err
		}
		if unexpected = c.unexpectedRuns(runs); len(unexpected) == 0 || time.Now().After(end) {
			break
		}
		if err := cluster.Sleep(ctx, settleEvery); err != nil {
			return err
		}
	}
	c.report.checked(invariantWorkflow, len(c.orders))
	for id, what := range unexpected {
		c.report.violate(invariantWorkflow, id, "%s", what)
	}
	c.report.checked(invariantAgreement, len(c.orders))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrentQueries)
	for _, row := range c.orders {
		if len(runs[row.ID]) == 0 {
			continue
		}
		group.Go(func() error {
			c.checkAgreement(ctx, row)
			return nil
		})
	}
	return group.Wait()
}

// listRuns are the runs of all orders' workflows, by order.
func (c *checker) listRuns(ctx context.Context) (map[string][]run, error) {
	runs := map[string][]run{}
	var page []byte
	for {
		list, err := c.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowType = '%s'", workflows.OrderWorkflowName), PageSize: 500, NextPageToken: page,
		})
		if err != nil {
			return nil, err
		}
		for _, execution := range list.Executions {
			order := strings.TrimPrefix(execution.Execution.WorkflowId, workflows.OrderWorkflowPrefix)
			runs[order] = append(runs[order], run{id: execution.Execution.RunId, status: execution.Status})
		}
		if page = list.NextPageToken; len(page) == 0 {
			return runs, nil
		}
	}
}

// unexpectedRuns are the orders whose runs are not as they should be: one, running while the order
// is open, completed otherwise. Only one that went on after its end, or of very many moves, may
// have more.
func (c *checker) unexpectedRuns(runs map[string][]run) map[string]string {
	unexpected := map[string]string{}
	for order := range runs {
		if c.byID[order] == nil {
			unexpected[order] = "there is a workflow for it and no row"
		}
	}
	revivers := map[string]int{}
	for _, tracked := range c.ledger.all() {
		revivers[tracked.id] = tracked.unknown[models.MoveReceive] + tracked.unknown[models.MoveUndo]
	}
	for _, row := range c.orders {
		revivals := maxRevivals(c.timelines[row.ID], revivers[row.ID])
		open, failed, continued := 0, 0, 0
		for _, r := range runs[row.ID] {
			switch r.status {
			case enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
				open++
			case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
			case enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
				continued++
			default:
				failed++
			}
		}
		ended := row.Status.Ended()
		switch {
		case len(runs[row.ID]) < 1 || len(runs[row.ID]) > 1+revivals+continued:
			unexpected[row.ID] = fmt.Sprintf("%d runs and at most %d revivals", len(runs[row.ID]), revivals)
		case failed > 0:
			unexpected[row.ID] = fmt.Sprintf("runs that neither go on nor completed: %v", runs[row.ID])
		case !ended && open != 1:
			unexpected[row.ID] = fmt.Sprintf("it is %s and has %d open runs", row.Status, open)
		case ended && open > 0:
			unexpected[row.ID] = fmt.Sprintf("it is %s and its workflow goes on", row.Status)
		}
	}
	return unexpected
}

// maxRevivals is how many runs may have been started for a move after the order had ended, a late
// reception or an undo: those that are in the timeline, and those whose requests nobody confirmed.
// Such a run ends without a move if the request's deadline passed before its first task.
func maxRevivals(timeline []entryRow, unconfirmed int) int {
	revivals, ended := 0, false
	for i, entry := range timeline {
		ended = ended || entry.Status.Ended()
		if i > 0 && timeline[i-1].Status.Ended() {
			revivals++
		}
	}
	if ended {
		revivals += unconfirmed
	}
	return revivals
}

// checkAgreement compares the workflow's status with the row's. The query replays the history, so
// that a history that cannot be replayed is found too.
func (c *checker) checkAgreement(ctx context.Context, row *orderRow) {
	details, err := c.detailsOf(ctx, row.ID)
	if err != nil {
		c.report.violate(invariantAgreement, row.ID, "its workflow cannot be asked: %v", err)
		return
	}
	if !row.agrees(details) {
		c.report.violate(invariantAgreement, row.ID, "the row says %+v, the workflow %s", row.state(), details)
	}
}

// agrees reports whether a workflow's details are those of the row.
func (o *orderRow) agrees(details string) bool {
	return strings.HasPrefix(details, "**"+o.Status.Label()+"**") && strings.Contains(details, o.GuideCode) &&
		strings.Contains(details, o.state().Substatus.Label())
}

// detailsOf retries the query: it is handed to one worker's poll and is lost with that worker.
func (c *checker) detailsOf(ctx context.Context, order string) (details string, err error) {
	for range maxQueries {
		if details, err = c.queryDetails(ctx, order); err == nil {
			break
		}
	}
	return details, err
}

func (c *checker) queryDetails(ctx context.Context, order string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.scaledTimeout(queryTimeout))
	defer cancel()
	value, err := c.Client.QueryWorkflow(ctx, workflows.OrderWorkflowPrefix+order, "", "__temporal_workflow_metadata")
	if err != nil {
		return "", err
	}
	var metadata sdk.WorkflowMetadata
	err = value.Get(&metadata)
	return metadata.CurrentDetails, err
}

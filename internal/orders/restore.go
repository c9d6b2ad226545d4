package orders

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
)

// listPage is how many workflows are listed at once.
const listPage = 500

// EndWorkflows ends every running workflow of this installation. It is for a restore that leaves
// the service's database and Temporal's with different times: the rows are right, and the reconcile
// workflow starts the workflows of the orders that UnconfirmOpenOrders marks from them.
func (s *Service) EndWorkflows(ctx context.Context, reason string) (int, error) {
	var ended atomic.Int64
	request := &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: listPage, Query: fmt.Sprintf("ExecutionStatus = 'Running' AND TaskQueue = '%s'", s.options.TaskQueue),
	}
	for {
		page, err := s.temporal.ListWorkflow(ctx, request)
		if err != nil {
			return int(ended.Load()), err
		}
		var calls errgroup.Group
		calls.SetLimit(StartsAtOnce)
		for _, execution := range page.GetExecutions() {
			calls.Go(func() error {
				err := s.temporal.TerminateWorkflow(ctx, execution.GetExecution().GetWorkflowId(), "", reason)
				if isNotRunning(err) {
					return nil // the list is a database of its own, and may be of another time
				}
				if err == nil {
					ended.Add(1)
				}
				return err
			})
		}
		if err := calls.Wait(); err != nil {
			return int(ended.Load()), err
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return int(ended.Load()), nil
		}
	}
}

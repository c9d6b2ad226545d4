package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"despacho/workflows"
)

// compareHourly compares the database with Temporal once an hour, and when the process has started: a
// backup is restored while no worker runs.
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

// CompareWithTemporal looks for running workflows that do not belong to an open order, as after one of
// the two databases was restored from an older copy. The row decides: such a workflow is made to look at
// it, and ends. Then the other workflows may be ahead of their rows or behind, or missing: every open
// order is left to StartMissingOrders.
func (a *Activities) CompareWithTemporal(ctx context.Context) error {
	missing, ended, err := a.withoutOpenOrder(ctx)
	if err != nil || len(missing)+len(ended) == 0 {
		return err
	}
	if err := a.refresh(ctx, append(missing, ended...)); err != nil {
		return err
	}
	count, err := a.DB.UnconfirmOpenOrders(ctx)
	if err == nil {
		a.Log.WarnContext(ctx, "Temporal and the database are not of the same time: every open order's workflow reads its row, the others end",
			"workflows_without_order", len(missing), "workflows_of_ended_orders", len(ended), "open_orders", count)
	}
	return err
}

// withoutOpenOrder returns the ids of running workflows for which there is no order, and of those whose
// order has ended and has nothing to send.
func (a *Activities) withoutOpenOrder(ctx context.Context) (missing, ended []uuid.UUID, err error) {
	settled := a.Clock.Now().Add(-settledAfter)
	err = a.eachRunning(ctx, func(ids []uuid.UUID) error {
		without, err := a.DB.MissingOrders(ctx, ids)
		if err != nil {
			return err
		}
		over, err := a.DB.EndedOrders(ctx, ids, settled)
		missing, ended = append(missing, without...), append(ended, over...)
		return err
	})
	return missing, ended, err
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

// refresh makes the workflows of these orders look at their rows. One that has ended since it was
// listed does not have to.
func (a *Activities) refresh(ctx context.Context, ids []uuid.UUID) error {
	for _, id := range ids {
		err := a.Temporal.SignalWorkflow(ctx, workflows.OrderWorkflowID(id), "", workflows.RefreshName, nil)
		var notFound *serviceerror.NotFound
		if err != nil && !errors.As(err, &notFound) {
			return err
		}
	}
	return nil
}

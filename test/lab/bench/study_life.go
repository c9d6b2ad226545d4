package bench

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"despacho/test/lab/cluster"
	"despacho/test/lifecost"
	"despacho/workflows"
)

const (
	rowEventsWebhook    = "history events of a life, one webhook on every event"
	rowEventsNoWebhook  = "history events of a life, no webhook"
	rowActionsWebhook   = "Temporal actions of a life, one webhook on every event"
	rowActionsNoWebhook = "Temporal actions of a life, no webhook"
	rowActionsIdle      = "Temporal actions a day without any order"
)

func lifeRows(scale) []string {
	return []string{rowEventsWebhook, rowEventsNoWebhook, rowActionsWebhook, rowActionsNoWebhook, rowActionsIdle}
}

// studyLife counts the history events and billable actions of an order. Every event is delivered
// before the next move, which is the most expensive case.
func studyLife(ctx context.Context, s *stack) ([]Row, error) {
	withWebhook, err := s.orderCost(ctx, webhookOperator)
	if err != nil {
		return nil, err
	}
	withoutWebhook, err := s.orderCost(ctx, mainOperator)
	if err != nil {
		return nil, err
	}
	idle, err := s.reconcileCost(ctx)
	if err != nil {
		return nil, err
	}
	return []Row{
		countRow(rowEventsWebhook, "events", atMost(43), withWebhook.Events),
		countRow(rowEventsNoWebhook, "events", atMost(25), withoutWebhook.Events),
		countRow(rowActionsWebhook, "actions", atMost(11), withWebhook.Actions),
		countRow(rowActionsNoWebhook, "actions", atMost(8), withoutWebhook.Actions),
		countRow(rowActionsIdle, "actions", atMost(6000), idle.ADay(workflows.ReconcileEvery)).
			withNote("the reconcile workflow, %d actions and the schedule's 2 in each run", idle.Actions),
	}, nil
}

// reconcileCost is the cost of a scheduled run of the reconcile workflow. How long it goes on does
// not change it.
func (s *stack) reconcileCost(ctx context.Context) (lifecost.Cost, error) {
	run, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: s.main.queue},
		workflows.ReconcileWorkflowName, workflows.ReconcileInput{For: time.Second})
	if err != nil {
		return lifecost.Cost{}, err
	}
	if err := run.Get(ctx, nil); err != nil {
		return lifecost.Cost{}, err
	}
	events, err := cluster.History(ctx, s.Client, run.GetID(), run.GetRunID())
	if err != nil {
		return lifecost.Cost{}, err
	}
	return lifecost.Of(events), nil
}

// orderCost is the cost of an order without a timed-out or failed workflow task.
func (s *stack) orderCost(ctx context.Context, operator int) (lifecost.Cost, error) {
	caller := s.main.operatorClient(operator)
	defer caller.Close()
	for range 5 {
		order, err := caller.create(ctx)
		if err != nil {
			return lifecost.Cost{}, err
		}
		for _, move := range []func(context.Context, uuid.UUID) error{caller.receive, caller.assign, caller.deliver} {
			if err := s.waitForIdle(ctx, workflowOf(order)); err != nil {
				return lifecost.Cost{}, err
			}
			if err := move(ctx, order); err != nil {
				return lifecost.Cost{}, err
			}
		}
		if err := s.waitForEnd(ctx, workflowOf(order)); err != nil {
			return lifecost.Cost{}, err
		}
		events, err := cluster.History(ctx, s.Client, workflowOf(order), "")
		if err != nil {
			return lifecost.Cost{}, err
		}
		if !lifecost.Disturbed(events) {
			return lifecost.Of(events), nil
		}
	}
	return lifecost.Cost{}, errors.New("the machine is too busy: workflow tasks time out")
}

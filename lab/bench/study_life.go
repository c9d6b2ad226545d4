package bench

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"despacho/lab/lifecost"
)

const (
	rowEventsHooked  = "history events of a life, one webhook on every event"
	rowEventsAlone   = "history events of a life, no webhook"
	rowActionsHooked = "Temporal actions of a life, one webhook on every event"
	rowActionsAlone  = "Temporal actions of a life, no webhook"
)

func lifeRows(scale) []string {
	return []string{rowEventsHooked, rowEventsAlone, rowActionsHooked, rowActionsAlone}
}

// studyLife counts what a life leaves in Temporal's history. Every step is told before the next is
// made, which is the most it can take.
func studyLife(ctx context.Context, s *stack) ([]Row, error) {
	hooked, err := s.lifeOf(ctx, theHooked)
	if err != nil {
		return nil, err
	}
	alone, err := s.lifeOf(ctx, theOne)
	if err != nil {
		return nil, err
	}
	return []Row{
		exact(rowEventsHooked, "events", atMost(45), hooked.Events),
		exact(rowEventsAlone, "events", atMost(27), alone.Events),
		exact(rowActionsHooked, "actions", atMost(12), hooked.Actions),
		exact(rowActionsAlone, "actions", atMost(12), alone.Actions),
	}, nil
}

// lifeOf is the cost of a life in which the machine was never too busy to answer in time.
func (s *stack) lifeOf(ctx context.Context, operator int) (lifecost.Cost, error) {
	people := s.main.staffOf(operator)
	defer people.Close()
	for range 5 {
		order, err := people.create(ctx)
		if err != nil {
			return lifecost.Cost{}, err
		}
		for _, move := range []func(context.Context, uuid.UUID) error{people.receive, people.assign, people.deliver} {
			if err := s.waitForQuiet(ctx, workflowOf(order)); err != nil {
				return lifecost.Cost{}, err
			}
			if err := move(ctx, order); err != nil {
				return lifecost.Cost{}, err
			}
		}
		if err := s.waitForEnd(ctx, workflowOf(order)); err != nil {
			return lifecost.Cost{}, err
		}
		events, err := s.historyOf(ctx, workflowOf(order))
		if err != nil {
			return lifecost.Cost{}, err
		}
		if !lifecost.Disturbed(events) {
			return lifecost.Of(events), nil
		}
	}
	return lifecost.Cost{}, errors.New("the machine is too busy: workflow tasks time out")
}

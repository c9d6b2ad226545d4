package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"despacho/models"
	"despacho/workflows"
)

const stepAfter = 10 * time.Second

// simulation runs a simulation in the test environment, with a fake of the order: every step is
// made, or beforeStep says otherwise.
type simulation struct {
	*harness
	input      workflows.SimulationInput
	beforeStep func(workflows.SimulatedMove) (*workflows.SimulatedOrder, error)
	// made are the steps that were made, at their times after the start.
	made []madeStep
}

type madeStep struct {
	move models.Move
	at   time.Duration
}

func newSimulation(t *testing.T, moves ...models.Move) *simulation {
	t.Helper()
	s := &simulation{harness: newHarness(t, registered), input: workflows.SimulationInput{OrderID: uuid.New(), Seq: 1}}
	for _, move := range moves {
		s.input.Steps = append(s.input.Steps, workflows.SimulationStep{After: stepAfter, Move: move, By: models.ByOperator})
	}
	s.env.RegisterActivityWithOptions(s.step, activity.RegisterOptions{Name: workflows.SimulateActivity})
	return s
}

func (s *simulation) step(_ context.Context, move workflows.SimulatedMove) (*workflows.SimulatedOrder, error) {
	if s.beforeStep != nil {
		if order, err := s.beforeStep(move); order != nil || err != nil {
			return order, err
		}
	}
	s.made = append(s.made, madeStep{move.Step.Move, s.env.Now().Sub(start)})
	return &workflows.SimulatedOrder{Seq: move.Seq + 1}, nil
}

func (s *simulation) run() {
	s.t.Helper()
	s.env.ExecuteWorkflow(workflows.Simulation, s.input)
	require.True(s.t, s.env.IsWorkflowCompleted())
	require.NoError(s.t, s.env.GetWorkflowError())
}

var life = []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver}

// Every step is made at its time after the one before, and the simulation ends with the last.
func TestSimulation_makesTheStepsInTurn(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, life...)
	s.run()
	require.Equal(t, []madeStep{{models.MoveReceive, stepAfter}, {models.MoveAssign, 2 * stepAfter}, {models.MoveDeliver, 3 * stepAfter}}, s.made)
}

// One that is started for an order that has moved goes on from there.
func TestSimulation_goesOnFromTheOrder(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, life...)
	s.input.Seq = 3
	s.run()
	require.Equal(t, []madeStep{{models.MoveDeliver, stepAfter}}, s.made)
}

// Advance makes the next step at once; the ones after it wait their time from then. The same
// request again makes none, and after the last there is none to make.
func TestSimulation_advance(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, life...)
	var first, again, late *updateResult
	s.at(time.Second, func() {
		first = s.update(workflows.AdvanceName, 1)
		again = s.update(workflows.AdvanceName, 1)
	})
	s.at(2*time.Second, func() { late = s.update(workflows.AdvanceName, 1) })
	s.run()
	for _, answer := range []*updateResult{first, again, late} {
		answer.requireDone(t)
	}
	require.Equal(t, []madeStep{
		{models.MoveReceive, time.Second}, {models.MoveAssign, time.Second + stepAfter}, {models.MoveDeliver, time.Second + 2*stepAfter},
	}, s.made)
}

func TestSimulation_advanceAfterTheLastStep(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, models.MoveReceive)
	var last, after *updateResult
	s.at(time.Second, func() {
		last = s.update(workflows.AdvanceName, 1)
		after = s.update(workflows.AdvanceName, 2)
	})
	s.run()
	last.requireDone(t)
	require.True(t, workflows.IsNoNextStep(after.err), "%v", after.err)
}

// An advance during a step is that step, or the one after it if the order has moved by then.
func TestSimulation_advanceWhileAStepIsMade(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, life...)
	var same, next *updateResult
	s.beforeStep = func(move workflows.SimulatedMove) (*workflows.SimulatedOrder, error) {
		if move.Seq == 1 {
			s.beforeReply(func() {
				same = s.update(workflows.AdvanceName, 1)
				next = s.update(workflows.AdvanceName, 2)
			})
		}
		return nil, nil
	}
	s.run()
	same.requireDone(t)
	next.requireDone(t)
	require.Equal(t, []madeStep{{models.MoveReceive, stepAfter}, {models.MoveAssign, stepAfter}, {models.MoveDeliver, 2 * stepAfter}}, s.made)
}

// An order that was cancelled ends its simulation.
func TestSimulation_endsWithTheOrder(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, life...)
	s.beforeStep = func(workflows.SimulatedMove) (*workflows.SimulatedOrder, error) {
		return &workflows.SimulatedOrder{Seq: 2, Ended: true}, nil
	}
	var advanced *updateResult
	s.at(time.Second, func() { advanced = s.update(workflows.AdvanceName, 2) })
	s.run()
	require.Empty(t, s.made)
	require.True(t, workflows.IsNoNextStep(advanced.err), "%v", advanced.err)
}

// An order that is ahead of its simulation, which missed a step, goes on from where it is.
func TestSimulation_ofAnOrderAheadOfIt(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, life...)
	s.beforeStep = func(move workflows.SimulatedMove) (*workflows.SimulatedOrder, error) {
		if move.Seq < 3 {
			return &workflows.SimulatedOrder{Seq: 3}, nil
		}
		return nil, nil
	}
	var advanced *updateResult
	s.at(time.Second, func() { advanced = s.update(workflows.AdvanceName, 3) })
	s.run()
	advanced.requireDone(t)
	require.Equal(t, []madeStep{{models.MoveDeliver, time.Second}}, s.made)
}

// A step that is refused is tried again, an hour later or with the next advance. One that cannot be
// requested is tried until it can.
func TestSimulation_refusedStepIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, life...)
	refused, unavailable := 0, 0
	s.beforeStep = func(move workflows.SimulatedMove) (*workflows.SimulatedOrder, error) {
		switch {
		case move.Step.Move == models.MoveReceive && refused < 2:
			refused++
			return &workflows.SimulatedOrder{Seq: move.Seq, Refused: "no"}, nil
		case move.Step.Move == models.MoveAssign && unavailable < 3:
			unavailable++
			return nil, errors.New("unavailable")
		}
		return nil, nil
	}
	var first, second *updateResult
	s.at(time.Second, func() { first = s.update(workflows.AdvanceName, 1) })
	s.at(2*time.Second, func() { second = s.update(workflows.AdvanceName, 1) })
	s.run()
	for _, answer := range []*updateResult{first, second} {
		require.ErrorContains(t, answer.err, "no")
	}
	require.Equal(t, []models.Move{models.MoveReceive, models.MoveAssign, models.MoveDeliver},
		[]models.Move{s.made[0].move, s.made[1].move, s.made[2].move})
	require.Equal(t, 2*time.Second+time.Hour, s.made[0].at)
	require.Less(t, s.made[1].at-s.made[0].at, stepAfter+time.Minute)
}

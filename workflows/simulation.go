package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// AdvanceName is the update of a simulation that makes its next step at once.
const AdvanceName = "advance"

// SimulationInput starts the simulation of a test order.
type SimulationInput struct {
	OrderID uuid.UUID `json:"order_id"`
	// Seq is the order's when the simulation starts.
	Seq int `json:"seq"`
	// Steps are all moves of the scenario, the first for an order with Seq 1. They are in the input,
	// so that neither another release nor a corrected phone changes what a running order does.
	Steps []SimulationStep `json:"steps"`
}

// SimulationStep is a move of a test order.
type SimulationStep struct {
	// After is the time since the step before or, for the first, since the simulation began.
	After time.Duration `json:"after"`
	Move  models.Move   `json:"move"`
	By    models.Actor  `json:"by"`
	// RiderID is the rider of an assignment, Reason that of a cancel, of a failed attempt or of
	// what is taken back, Photo the photo of a delivery.
	RiderID *uuid.UUID `json:"rider_id,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	Photo   string     `json:"photo,omitempty"`
}

// SimulatedMove asks for a step of an order that is still at Seq.
type SimulatedMove struct {
	OrderID uuid.UUID      `json:"order_id"`
	Seq     int            `json:"seq"`
	Step    SimulationStep `json:"step"`
}

// SimulatedOrder is a test order after a step.
type SimulatedOrder struct {
	Seq int `json:"seq"`
	// Ended means that the order takes no more moves.
	Ended bool `json:"ended,omitempty"`
	// Refused is why the step was not made.
	Refused string `json:"refused,omitempty"`
}

// Simulation moves a test order in place of the people who would: it waits the time of each step
// and requests its move as the panel does, after a refusal every hour. It ends with the scenario,
// or with the order.
func Simulation(ctx workflow.Context, in SimulationInput) error {
	s := &simulation{SimulationInput: in}
	if err := workflow.SetUpdateHandler(ctx, AdvanceName, s.advance); err != nil {
		return err
	}
	for step := s.step(); step != nil; step = s.step() {
		wait := step.After
		if s.refused != "" {
			wait = time.Hour
		}
		if _, err := workflow.AwaitWithTimeout(ctx, wait, func() bool { return s.requested }); err != nil {
			return err
		}
		order, err := s.request(ctx, *step)
		if err != nil {
			return err
		}
		s.attempts, s.requested, s.refused = s.attempts+1, false, order.Refused
		if s.Seq = order.Seq; order.Ended {
			s.Steps = nil
		}
	}
	return workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}

type simulation struct {
	SimulationInput
	// requested means that somebody waits for the next step, attempts counts those made, and refused
	// is why the latest changed nothing.
	requested bool
	attempts  int
	refused   string
}

// step is the step that comes next; nil after the last.
func (s *simulation) step() *SimulationStep {
	if s.Seq < 1 || s.Seq > len(s.Steps) {
		return nil
	}
	return &s.Steps[s.Seq-1]
}

// request has an activity make a step. Only a refusal ends its attempts.
func (s *simulation) request(ctx workflow.Context, step SimulationStep) (order SimulatedOrder, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		Summary:             string(step.Move),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: time.Minute},
	})
	move := SimulatedMove{OrderID: s.OrderID, Seq: s.Seq, Step: step}
	err = workflow.ExecuteActivity(ctx, SimulateActivity, move).Get(ctx, &order)
	return order, err
}

// advance makes the next step of an order that is at a Seq. An order that has moved since stays as
// it is: the request was repeated.
func (s *simulation) advance(ctx workflow.Context, seq int) error {
	for s.Seq <= seq {
		if s.step() == nil {
			return temporal.NewNonRetryableApplicationError("the test order has no next step", noNextStepErrorType, nil)
		}
		s.requested = true
		before := s.attempts
		if err := workflow.Await(ctx, func() bool { return s.attempts > before }); err != nil {
			return err
		}
		if s.refused != "" {
			return temporal.NewNonRetryableApplicationError(s.refused, refusedErrorType, nil)
		}
	}
	return nil
}

// IsNoNextStep reports whether an update was refused because the test order has no next step.
func IsNoNextStep(err error) bool { return hasType(err, noNextStepErrorType) }

package workflows

import (
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"despacho/models"
)

// AdvanceName is the update that makes a test order's next step at once.
const AdvanceName = "advance"

// TestStep is a move that the workflow of a test order makes by itself. All steps are in the
// workflow's input, so that a change of the scenarios does not change what a running order does.
type TestStep struct {
	// After is the time since the step before or, for the first, since the workflow began.
	After time.Duration `json:"after"`
	Move  models.Move   `json:"move"`
	// RiderID is the rider of an assignment, Reason that of a cancel.
	RiderID *uuid.UUID `json:"rider_id,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	// Photo is the name of the photo of a delivery. What it collects is decided when it is written:
	// the amount may be corrected until then.
	Photo string `json:"photo,omitempty"`
}

// request is the step as a requested move.
func (s TestStep) request(now time.Time) request {
	r := request{move: s.Move, by: models.ByOperator}
	switch s.Move {
	case models.MoveAutoCancel:
		r.by = models.ByAuto
	case models.MoveReceive:
		r.message = Received{}
	case models.MoveAssign:
		r.message = Assigned{RiderID: *s.RiderID}
	case models.MoveCancel:
		r.message = Cancel{Reason: s.Reason}
	case models.MoveDeliver:
		delivered := Delivered{Photo: s.Photo}
		if s.Photo != "" {
			delivered.CapturedAt = &now
		}
		r.message = delivered
	}
	return r
}

// stepRetry is the time to the next attempt at a step that could not be made.
const stepRetry = time.Hour

// restoreSteps takes over the steps of a test order. A run keeps the steps that it began with:
// those of the row may differ, because the phone that chooses them can be corrected.
func (o *order) restoreSteps(ctx workflow.Context, steps []TestStep) {
	if o.isTest() {
		return
	}
	if len(steps) > 0 && hasChange(ctx, changeTestSteps) {
		o.steps = steps
	}
}

// isTest reports whether the order moves by itself.
func (o *order) isTest() bool { return len(o.steps) > 0 }

// nextStep is the step that comes next; nil after the last, and for an order in a final status.
func (o *order) nextStep() *TestStep { return nextStep(o.steps, o.seq, o.state) }

// NextStep is the step that a run that starts from the snapshot would make next; nil if there is
// none.
func (s *Snapshot) NextStep() *TestStep { return nextStep(s.TestSteps, s.Seq, s.state()) }

// nextStep finds the step by the order's Seq, which counts its moves from the creation on: all
// moves of a test order are steps, except a cancel by somebody.
func nextStep(steps []TestStep, seq int, state models.State) *TestStep {
	if seq < 1 || seq > len(steps) || state.Final() {
		return nil
	}
	return &steps[seq-1]
}

// startNextStep replaces the running step timer with that of the next step.
func (o *order) startNextStep(ctx workflow.Context) {
	o.cancelStep()
	if step := o.nextStep(); step != nil {
		o.startStep(ctx, step.After)
	}
}

func (o *order) startStep(ctx workflow.Context, after time.Duration) {
	timerCtx, stop := workflow.WithCancel(ctx)
	o.stopStep = stop
	timer := workflow.NewTimerWithOptions(timerCtx, after, workflow.TimerOptions{Summary: "test step"})
	seq := o.seq
	o.events.AddFuture(timer, func(f workflow.Future) {
		if f.Get(ctx, nil) != nil {
			return // cancelled by a move
		}
		// The timer may fire while an update makes the step, when it is too late to cancel it.
		if o.seq != seq && hasChange(ctx, changeOneStepEach) {
			return // the next step has a timer of its own
		}
		o.stopStep = nil
		if err := o.makeStep(ctx); err != nil {
			workflow.GetLogger(ctx).Error("test step not made", "order_id", o.id, "error", err)
		}
		// A step that was made, or made elsewhere, has started the next one's timer.
		if o.stopStep == nil && o.nextStep() != nil {
			o.startStep(ctx, stepRetry)
		}
	})
}

func (o *order) cancelStep() {
	if o.stopStep != nil {
		o.stopStep()
		o.stopStep = nil
	}
}

func (o *order) makeStep(ctx workflow.Context) error {
	step := o.nextStep()
	if step == nil {
		return nil
	}
	return o.handleMove(ctx, step.request(workflow.Now(ctx)))
}

// errNoNextStep tells whoever advances a test order that it has made all its steps.
var errNoNextStep = temporal.NewNonRetryableApplicationError("the test order has no next step", noNextStepErrorType, nil)

// IsNoNextStep reports whether an update was refused because the test order has no next step.
func IsNoNextStep(err error) bool { return hasType(err, noNextStepErrorType) }

var errNotATestOrder = errors.New("the order is not a test order")

// registerAdvance registers the update that makes the next step of a test order that is at a Seq.
// An order that has moved since stays as it is: the request was repeated.
func (o *order) registerAdvance(ctx workflow.Context) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, AdvanceName,
		func(ctx workflow.Context, seq int) error {
			return o.inTurn(ctx, func(ctx workflow.Context) error {
				switch {
				case o.seq != seq:
					return nil
				case o.nextStep() == nil:
					return errNoNextStep
				}
				return o.makeStep(ctx)
			})
		},
		workflow.UpdateHandlerOptions{
			Validator: func(int) error {
				if o.loaded && !o.isTest() {
					return errNotATestOrder
				}
				return nil
			},
			Description: "Makes the next step of a test order.",
		})
}

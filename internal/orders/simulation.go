package orders

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"despacho/internal/apperror"
	"despacho/internal/db"
	"despacho/models"
	"despacho/workflows"
)

// startSimulation starts the workflow that moves a test order. One that runs already stays.
func (s *Service) startSimulation(ctx context.Context, order *models.Order) error {
	if err := s.saveTestPhoto(ctx, order); err != nil {
		s.log.WarnContext(ctx, "photo of a test order not stored", "order_id", order.ID, "error", err)
	}
	options, input := s.simulation(order)
	return s.startWith(ctx, options, func(options client.StartWorkflowOptions) error {
		_, err := s.temporal.ExecuteWorkflow(ctx, options, workflows.SimulationWorkflowName, input)
		return err
	})
}

func (s *Service) simulation(order *models.Order) (client.StartWorkflowOptions, workflows.SimulationInput) {
	options := s.startOptions(order, "")
	options.ID = workflows.SimulationWorkflowID(order.ID)
	return options, workflows.SimulationInput{OrderID: order.ID, Seq: order.Seq, Steps: simulationSteps(order)}
}

// simulationSteps are the steps of a test order's scenario.
func simulationSteps(order *models.Order) []workflows.SimulationStep {
	scenario, riders := scenarioOf(order), TestRiders(order.OperatorID, order.CreatedAt)
	var steps []workflows.SimulationStep
	for _, step := range scenario.steps {
		made := workflows.SimulationStep{After: step.after, Move: step.move, By: cmp.Or(step.by, models.ByOperator), Reason: step.reason}
		switch {
		case step.move == models.MoveAssign:
			made.RiderID = &riders[step.rider].ID
		case step.move == models.MoveDeliver && scenario.photo:
			made.Photo = testPhotoName(order.ID)
		}
		steps = append(steps, made)
	}
	return steps
}

// Simulate makes a step of a test order, as the panel would. An order that has moved since the
// step's Seq stays as it is: the step was made before.
func (s *Service) Simulate(ctx context.Context, move workflows.SimulatedMove) (*workflows.SimulatedOrder, error) {
	order, err := s.db.OrderViewByID(ctx, move.OrderID)
	if db.IsNotFound(err) {
		return &workflows.SimulatedOrder{Ended: true}, nil
	}
	if err != nil {
		return nil, err
	}
	refused := ""
	if order.Seq == move.Seq && !order.State().Final() {
		moved, err := s.makeStep(ctx, order, move.Step)
		switch {
		case isDefiniteRefusal(err):
			refused = err.Error()
		case err != nil:
			return nil, err
		default:
			order = moved
		}
	}
	return &workflows.SimulatedOrder{Seq: order.Seq, Ended: order.State().Final(), Refused: refused}, nil
}

func (s *Service) makeStep(
	ctx context.Context, order *models.OrderView, step workflows.SimulationStep,
) (*models.OrderView, error) {
	operator, err := s.db.Operator(ctx, order.OperatorID)
	if err != nil {
		return nil, err
	}
	message := models.Message{Move: step.Move, By: step.By, RiderID: step.RiderID, Reason: step.Reason}
	switch step.Move {
	case models.MoveAssign:
		riders := TestRiders(order.OperatorID, order.CreatedAt)
		if err := s.db.InsertMissing(ctx, &riders); err != nil {
			return nil, err
		}
	case models.MoveDeliver:
		message = s.testDelivery(&order.Order, step.Photo)
	}
	return s.move(ctx, Caller{Operator: operator, Test: true}, order, message, "")
}

// testDelivery is the delivery of a test order: its rider collects the amount that the order has by
// now, with a photo the half.
func (s *Service) testDelivery(order *models.Order, photo string) models.Message {
	delivered := models.Message{Move: models.MoveDeliver, Photo: photo}
	amount := order.AmountToCollect
	if photo != "" {
		now := s.clock.Now()
		delivered.CapturedAt, amount = &now, amount/2
	}
	if order.PaymentType == models.CashOnDelivery {
		delivered.ActualAmountCollected = &amount
	}
	return delivered
}

// ErrNoNextStep refuses to advance a test order that has ended.
var ErrNoNextStep = apperror.New(apperror.Conflict, "no_next_step", "El pedido de prueba ya terminó: no tiene un siguiente paso.")

// Advance has the simulation of a test order make its next step at once and returns the order. The
// caller must be a test key.
func (s *Service) Advance(ctx context.Context, caller Caller, id uuid.UUID) (*View, error) {
	limited, cancel := context.WithTimeout(ctx, s.options.MoveTimeout)
	defer cancel()
	order, err := s.Find(limited, caller, id)
	if err != nil {
		return nil, err
	}
	if order.State().Final() {
		return nil, ErrNoNextStep
	}
	if err := s.requestStep(limited, &order.Order); err != nil {
		return nil, err
	}
	moved, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	return s.View(caller, moved), nil
}

// requestStep has the simulation of a test order make the step that follows the order's Seq. A
// simulation that was ended by hand is started again; one that has completed has no next step.
func (s *Service) requestStep(ctx context.Context, order *models.Order) error {
	start, input := s.simulation(order)
	start.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	start.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
	err := s.startWith(ctx, start, func(start client.StartWorkflowOptions) error {
		handle, err := s.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: s.temporal.NewWithStartWorkflowOperation(start, workflows.SimulationWorkflowName, input),
			UpdateOptions: client.UpdateWorkflowOptions{
				WorkflowID: start.ID, UpdateName: workflows.AdvanceName, Args: []any{order.Seq},
				WaitForStage: client.WorkflowUpdateStageCompleted,
			},
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, nil)
	})
	switch {
	case err == nil:
		return nil
	case isAlreadyStarted(err) || workflows.IsNoNextStep(err):
		return ErrNoNextStep
	}
	return ErrMoveUnconfirmed.Because(errors.Join(errors.New("the test step was not made"), err))
}

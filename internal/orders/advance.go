package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/apperror"
	"despacho/models"
	"despacho/workflows"
)

// ErrNoNextStep refuses to advance a test order that has ended.
var ErrNoNextStep = apperror.New(apperror.Conflict, "no_next_step", "El pedido de prueba ya terminó: no tiene un siguiente paso.")

// Advance makes the next step of a test order at once and returns the order. The caller must be a
// test key. Which step that is, the running workflow decides: the row's phone, which chooses the
// steps at first, may have been corrected since.
func (s *Service) Advance(ctx context.Context, caller Caller, id uuid.UUID) (*View, error) {
	limited, cancel := context.WithTimeout(ctx, s.options.MoveTimeout)
	defer cancel()
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if order.State().Final() {
		return nil, ErrNoNextStep
	}
	// A repeated request waits for the same update. The Seq keeps it from making another step.
	err = s.requestStep(limited, &order.Order, fmt.Sprintf("%s-%d", workflows.AdvanceName, order.Seq))
	moved, readErr := s.Find(ctx, caller, id)
	if readErr == nil && moved.Seq == order.Seq && hasOutcome(err) {
		// The outcome may be old, or that of a workflow that is behind the row: it is asked once more,
		// when it has read the row.
		s.refresh(limited, id)
		err = s.requestStep(limited, &order.Order, uuid.NewString())
		moved, readErr = s.Find(ctx, caller, id)
	}
	switch {
	case errors.Is(err, ErrNoNextStep):
		return nil, err
	case readErr != nil:
		return nil, readErr
	case moved.Seq == order.Seq:
		return nil, ErrMoveUnconfirmed.Because(errors.Join(errors.New("the test step was not made"), err))
	}
	return s.View(caller, moved), nil
}

// requestStep has the workflow of a test order make the step that follows the order's Seq.
func (s *Service) requestStep(ctx context.Context, order *models.Order, updateID string) error {
	options := client.UpdateWorkflowOptions{
		UpdateID: updateID, WorkflowID: workflows.OrderWorkflowID(order.ID),
		UpdateName: workflows.AdvanceName, Args: []any{order.Seq}, WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	handle, err := s.temporal.UpdateWorkflow(ctx, options)
	if workflows.IsNotRunning(err) {
		// A run ends with the last step. One that has ended before, by hand, leaves the next step to
		// another run.
		snapshot, readErr := s.snapshot(ctx, s.db, order)
		if readErr != nil {
			return readErr
		}
		if snapshot.NextStep() == nil {
			return ErrNoNextStep
		}
		handle, err = s.updateWithStart(ctx, order, options)
	}
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if workflows.IsNoNextStep(err) {
		return ErrNoNextStep
	}
	return err
}

// hasOutcome reports whether an update has ended, by its error or nil.
func hasOutcome(err error) bool {
	var failed *temporal.ApplicationError
	return err == nil || errors.As(err, &failed)
}

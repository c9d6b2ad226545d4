package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"despacho/internal/apperror"
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
	release, _, err := s.moving.acquire(limited, id)
	if err != nil {
		return nil, ErrMoveUnconfirmed.Because(err)
	}
	defer release()
	order, err := s.Find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if order.State().Final() {
		return nil, ErrNoNextStep
	}
	// A repeated request waits for the same update. The Seq keeps it from making another step.
	options := client.UpdateWorkflowOptions{
		UpdateID: fmt.Sprintf("%s-%d", workflows.AdvanceName, order.Seq), WorkflowID: workflows.OrderWorkflowID(id),
		UpdateName: workflows.AdvanceName, Args: []any{order.Seq}, WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	handle, err := s.temporal.UpdateWorkflow(limited, options)
	if workflows.IsNotRunning(err) {
		// A workflow that is to revive the order would still run.
		if !order.Status.Open() {
			return nil, ErrNoNextStep
		}
		handle, err = s.updateWithStart(limited, &order.Order, options)
	}
	if err == nil {
		err = handle.Get(limited, nil)
	}
	if workflows.IsNoNextStep(err) {
		return nil, ErrNoNextStep
	}
	moved, readErr := s.Find(ctx, caller, id)
	if readErr != nil {
		return nil, readErr
	}
	if moved.Seq == order.Seq {
		return nil, ErrMoveUnconfirmed.Because(errors.Join(errors.New("the test step was not made"), err))
	}
	return s.View(caller, moved), nil
}

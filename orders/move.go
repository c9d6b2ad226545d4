package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/models"
	"despacho/workflows"
)

// Cancellation is the reason of a cancel.
type Cancellation struct {
	Reason, Note string
	// OnlyRegistered refuses the cancel once the package was received, for every caller.
	OnlyRegistered bool
}

// Limits of a cancellation's texts, in characters.
const (
	maxReason     = 255
	maxCancelNote = 1000
)

// ReadCancellation reads an optional reason and note.
func ReadCancellation(in *jsonbody.Object) (Cancellation, error) {
	reason, note := in.Lines("reason", maxReason), in.Lines("note", maxCancelNote)
	if err := in.Err(); err != nil {
		return Cancellation{}, err
	}
	var why Cancellation
	if reason != nil {
		why.Reason = *reason
	}
	if note != nil {
		why.Note = *note
	}
	return why, nil
}

// Cancel cancels an order: a store while it is registered, the operator until it is delivered.
func (s *Service) Cancel(ctx context.Context, caller Caller, id uuid.UUID, c Cancellation) (*View, error) {
	order, err := s.find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if c.OnlyRegistered && order.Status != models.StatusRegistered {
		return nil, moveRefused(models.MoveCancel, order.Status)
	}
	message := workflows.Cancel{Reason: c.Reason, Note: c.Note, By: caller.Actor(), OnlyRegistered: c.OnlyRegistered}
	return s.moveOrder(ctx, caller, order, models.MoveCancel, nil, workflows.CancelName, message)
}

// Receive records the reception at a branch; nil means the expected branch.
func (s *Service) Receive(ctx context.Context, caller Caller, id uuid.UUID, branchID *uuid.UUID) (*View, error) {
	if err := s.checkBranch(ctx, caller, branchID); err != nil {
		return nil, err
	}
	return s.move(ctx, caller, id, models.MoveReceive, nil, workflows.ReceivedName, workflows.Received{BranchID: branchID})
}

// checkBranch checks that the branch is an active one of the operator.
func (s *Service) checkBranch(ctx context.Context, caller Caller, branchID *uuid.UUID) error {
	if branchID == nil {
		return nil
	}
	_, err := s.db.BranchOf(ctx, caller.Operator.ID, *branchID)
	if db.IsNotFound(err) {
		return fieldError("branch_id", "no es una sucursal activa del operador")
	}
	return err
}

// Assign assigns the order to a rider.
func (s *Service) Assign(ctx context.Context, caller Caller, id, riderID uuid.UUID) (*View, error) {
	if err := s.checkRider(ctx, caller, riderID); err != nil {
		return nil, err
	}
	return s.move(ctx, caller, id, models.MoveAssign, &riderID, workflows.AssignedName, workflows.Assigned{RiderID: riderID})
}

// checkRider checks that the rider is an active one of the operator.
func (s *Service) checkRider(ctx context.Context, caller Caller, riderID uuid.UUID) error {
	_, err := s.db.RiderOf(ctx, caller.Operator.ID, riderID)
	if db.IsNotFound(err) {
		return fieldError("rider_id", "no es un motorizado activo del operador")
	}
	return err
}

// move requests a move from the order's workflow and returns the moved order. The row is checked
// first: it is never ahead of the workflow, so a move that it rules out needs no update.
func (s *Service) move(ctx context.Context, caller Caller, id uuid.UUID, move models.Move, rider *uuid.UUID, name string, message any) (*View, error) {
	order, err := s.find(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	return s.moveOrder(ctx, caller, order, move, rider, name, message)
}

func (s *Service) moveOrder(ctx context.Context, caller Caller, order *models.OrderView, move models.Move, rider *uuid.UUID, name string, message any) (*View, error) {
	switch _, verdict := order.State().Decide(move, caller.Actor(), rider); verdict {
	case models.Refused:
		return nil, moveRefused(move, order.Status)
	case models.Unchanged:
		return s.view(order, caller.SeesProofLocation()), nil
	}
	if err := s.update(ctx, &order.Order, move, name, message); err != nil {
		return nil, err
	}
	return s.Get(ctx, caller, order.ID)
}

// update sends the move as a workflow update and waits until it is stored or refused. If the
// outcome is not a success, the move may have been written all the same: a worker that dies after
// writing it loses the answer, and its successor refuses the move as already made.
func (s *Service) update(ctx context.Context, order *models.Order, move models.Move, name string, message any) error {
	updateID := uuid.NewString()
	err := s.requestUpdate(ctx, order, move, updateID, name, message)
	if err == nil {
		return nil
	}
	written, readErr := s.db.HasTimelineEntry(ctx, workflows.EntryID(updateID))
	if readErr != nil || !written {
		return err
	}
	return nil
}

func (s *Service) requestUpdate(ctx context.Context, order *models.Order, move models.Move, updateID, name string, message any) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.MoveTimeout)
	defer cancel()
	options := client.UpdateWorkflowOptions{
		UpdateID:     updateID,
		WorkflowID:   workflows.OrderWorkflowID(order.ID),
		UpdateName:   name,
		Args:         []any{message},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	handle, err := s.temporal.UpdateWorkflow(ctx, options)
	if isNotRunning(err) {
		// A workflow that has completed for good since the order was read is not started again.
		now, readErr := s.db.OrderViewByID(ctx, order.ID)
		if readErr != nil {
			return readErr
		}
		if now.State().Final() {
			return moveRefused(move, now.Status)
		}
		handle, err = s.updateWithStart(ctx, order, options)
	}
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if err == nil {
		s.started.add(order.ID, order.Seq+1)
	}
	return s.moveError(ctx, order, move, err)
}

// updateWithStart is for an order without a running workflow, because the timer cancelled it or its
// workflow was not started yet. The new run loads the order before it decides.
func (s *Service) updateWithStart(ctx context.Context, order *models.Order, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	storeName, err := s.storeNameOf(ctx, order)
	if err != nil {
		return nil, err
	}
	start := s.startOptions(order, storeName)
	start.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	handle, err := s.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: s.temporal.NewWithStartWorkflowOperation(start, workflows.OrderWorkflowName, workflows.OrderInput{OrderID: order.ID}),
		UpdateOptions:          options,
	})
	if err == nil && order.WorkflowStartedAt == nil {
		s.started.add(order.ID, order.Seq)
	}
	return handle, err
}

// moveError converts an update's error into the caller's.
func (s *Service) moveError(ctx context.Context, order *models.Order, move models.Move, err error) error {
	if err == nil {
		return nil
	}
	if refusal, refused := workflows.AsRefusal(err); refused {
		if refusal.Reason != "" {
			return apperror.New(apperror.Conflict, ErrMoveRefused.Code, refusal.Reason)
		}
		return moveRefused(move, refusal.Status)
	}
	s.log.WarnContext(ctx, "move not confirmed", "order_id", order.ID, "move", move, "error", err)
	return ErrMoveUnconfirmed.Because(err)
}

func isNotRunning(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

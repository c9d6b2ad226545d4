package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// Cancellation is the reason of a cancel.
type Cancellation struct {
	Reason, Note string
	// OnlyRegistered refuses the cancel once the package was received, for every caller.
	OnlyRegistered bool
	// ExpectedSeq is the Seq that the person saw; nil accepts any. With it a cancel, which is final,
	// gets ErrOrderChanged if somebody has moved the order since.
	ExpectedSeq *int
}

// ExpectedVersion is the member of a request that has the version of the order that the person saw.
const ExpectedVersion = "expected_version"

// ReadCancellation reads an optional reason and note.
func ReadCancellation(in *jsonbody.Object) (Cancellation, error) {
	reason, note := in.Lines("reason", models.MaxCancelReason), in.Lines("note", models.MaxCancelNote)
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

// ReadCancellationWithVersion is ReadCancellation with the version of the order that the person
// saw, if the request has it.
func ReadCancellationWithVersion(in *jsonbody.Object) (Cancellation, error) {
	expected := in.Int(ExpectedVersion)
	why, err := ReadCancellation(in)
	why.ExpectedSeq = expected
	return why, err
}

// Cancel cancels an order: a store while it is registered, the operator until it is delivered.
func (s *Service) Cancel(ctx context.Context, caller Caller, order *models.OrderView, c Cancellation) (*View, error) {
	return s.moveOrder(ctx, caller, order, c.message(caller), "")
}

func (c Cancellation) message(caller Caller) models.Message {
	return models.Message{Move: models.MoveCancel, Reason: c.Reason, Note: c.Note, By: caller.Actor(),
		OnlyRegistered: c.OnlyRegistered, ExpectedSeq: c.ExpectedSeq}
}

// ErrTooManySelected is the error of a bulk move of more than MaxBulk orders.
var ErrTooManySelected = apperror.New(apperror.Invalid, "invalid_fields", "Se mueven hasta 200 pedidos a la vez. Marque menos.")

// CancelMany cancels many orders for one reason, as moveMany does. One that is cancelled already
// stays as it is, so that a repeated request changes nothing. expected has the Seq of the orders
// that must not have moved since.
func (s *Service) CancelMany(
	ctx context.Context, caller Caller, ids []uuid.UUID, c Cancellation, expected map[uuid.UUID]int,
) ([]BulkResult, error) {
	return s.moveMany(ctx, caller, ids, bulkMove{
		done: BulkCancelled,
		message: func(order *models.OrderView) models.Message {
			message := c.message(caller)
			if seq, known := expected[order.ID]; known {
				message.ExpectedSeq = &seq
			}
			return message
		},
		isDone: func(order *models.OrderView) bool { return order.Status == models.StatusCancelled },
	})
}

// Receive records the reception at a branch; nil means the expected branch.
func (s *Service) Receive(ctx context.Context, caller Caller, order *models.OrderView, branchID *uuid.UUID) (*View, error) {
	if err := s.checkBranch(ctx, caller, branchID); err != nil {
		return nil, err
	}
	return s.moveOrder(ctx, caller, order, models.Message{Move: models.MoveReceive, BranchID: branchID}, "")
}

// ReceiveMany receives many packages at a branch, as moveMany does; nil is the branch that each
// order names. expected has the Seq of the orders that must not have moved since.
func (s *Service) ReceiveMany(
	ctx context.Context, caller Caller, branchID *uuid.UUID, ids []uuid.UUID, expected map[uuid.UUID]int,
) ([]BulkResult, error) {
	if err := s.checkBranch(ctx, caller, branchID); err != nil {
		return nil, err
	}
	return s.moveMany(ctx, caller, ids, bulkMove{
		done: BulkReceived,
		message: func(order *models.OrderView) models.Message {
			message := models.Message{Move: models.MoveReceive, BranchID: branchID}
			if seq, known := expected[order.ID]; known {
				message.ExpectedSeq = &seq
			}
			return message
		},
		isDone: func(order *models.OrderView) bool { return order.Status == models.StatusReceived },
	})
}

// checkBranch checks that the branch is an active one of the operator.
func (s *Service) checkBranch(ctx context.Context, caller Caller, branchID *uuid.UUID) error {
	if branchID == nil {
		return nil
	}
	settings, err := s.settings.get(ctx, caller.Operator)
	if err != nil {
		return err
	}
	if _, active := settings.branches[*branchID]; !active {
		return fieldError("branch_id", notABranch)
	}
	return nil
}

// Assign assigns the order to a rider. With expectedSeq it returns ErrOrderChanged if the order has
// moved since that Seq, unless it has the rider already.
func (s *Service) Assign(
	ctx context.Context, caller Caller, order *models.OrderView, riderID uuid.UUID, expectedSeq *int,
) (*View, error) {
	if err := s.checkRider(ctx, caller, riderID); err != nil {
		return nil, err
	}
	return s.moveOrder(ctx, caller, order, models.Message{Move: models.MoveAssign, RiderID: &riderID,
		ExpectedSeq: expectedSeq}, "")
}

// checkRider checks that the rider may get orders of the operator.
func (s *Service) checkRider(ctx context.Context, caller Caller, riderID uuid.UUID) error {
	settings, err := s.settings.get(ctx, caller.Operator)
	if err == nil && !settings.riders[riderID] {
		err = fieldError("rider_id", "no es un motorizado activo del operador")
	}
	return err
}

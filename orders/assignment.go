package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"despacho/db"
	"despacho/internal/apperror"
	"despacho/models"
	"despacho/workflows"
)

const (
	// MaxAssigned is how many orders are assigned at once.
	MaxAssigned = 200
	// assigningTogether keeps one person's many moves from crowding out everybody else's.
	assigningTogether = 8
)

// What an assignment of many is told before any order is looked at.
var (
	ErrNothingToAssign = apperror.New(apperror.Invalid, "invalid_fields", "Marque al menos un pedido.")
	ErrTooManyToAssign = apperror.New(apperror.Invalid, "invalid_fields", "Se asignan hasta 200 pedidos a la vez. Marque menos.")
)

// AssignmentOutcome is what came of one order among many.
type AssignmentOutcome string

// An order is assigned, had the rider already, cannot be assigned, or did not answer in time and
// may be tried again.
const (
	AssignmentDone        AssignmentOutcome = "assigned"
	AssignmentUnchanged   AssignmentOutcome = "unchanged"
	AssignmentRefused     AssignmentOutcome = "refused"
	AssignmentUnconfirmed AssignmentOutcome = "unconfirmed"
)

// Assignment is the answer for one order among many.
type Assignment struct {
	ID      uuid.UUID
	Outcome AssignmentOutcome
	// Order is as it stood before; nil where the caller has no such order.
	Order *View
	// Reason says why it was not assigned.
	Reason string
}

// AssignMany gives many packages to one rider. Each order goes its own way; the answers come in the
// order asked, each order once.
func (s *Service) AssignMany(ctx context.Context, caller Caller, riderID uuid.UUID, ids []uuid.UUID) ([]Assignment, error) {
	assignments := asked(ids)
	switch {
	case len(assignments) == 0:
		return nil, ErrNothingToAssign
	case len(assignments) > MaxAssigned:
		return nil, ErrTooManyToAssign
	}
	if err := s.checkRider(ctx, caller, riderID); err != nil {
		return nil, err
	}
	rows, err := s.db.OrderViews(ctx, caller.Scope(), ids)
	if err != nil {
		return nil, err
	}
	found := make(map[uuid.UUID]*models.OrderView, len(rows))
	for i := range rows {
		found[rows[i].ID] = &rows[i]
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.BulkAssignTimeout)
	defer cancel()
	var moves errgroup.Group
	moves.SetLimit(assigningTogether)
	for i := range assignments {
		moves.Go(func() error {
			s.assignOne(ctx, caller, riderID, found[assignments[i].ID], &assignments[i])
			return nil
		})
	}
	return assignments, moves.Wait()
}

func asked(ids []uuid.UUID) []Assignment {
	var once []Assignment
	seen := map[uuid.UUID]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			once = append(once, Assignment{ID: id})
		}
	}
	return once
}

func (s *Service) assignOne(ctx context.Context, caller Caller, riderID uuid.UUID, order *models.OrderView, assignment *Assignment) {
	if order == nil {
		assignment.Outcome, assignment.Reason = AssignmentRefused, ErrOrderNotFound.Message
		return
	}
	assignment.Order = s.view(order, caller.SeesProofLocation())
	switch _, verdict := order.State().Decide(models.MoveAssign, caller.Actor(), &riderID); verdict {
	case models.Refused:
		assignment.Outcome, assignment.Reason = AssignmentRefused, moveRefused(models.MoveAssign, order.Status).Message
		return
	case models.Unchanged:
		assignment.Outcome = AssignmentUnchanged
		return
	}
	if ctx.Err() != nil {
		assignment.Outcome, assignment.Reason = AssignmentUnconfirmed, ErrMovesDown.Message
		return
	}
	err := s.update(ctx, &order.Order, models.MoveAssign, workflows.AssignedName, workflows.Assigned{RiderID: riderID})
	switch {
	case err == nil:
		assignment.Outcome = AssignmentDone
	case errors.Is(err, ErrMoveRefused):
		assignment.Outcome, assignment.Reason = AssignmentRefused, apperror.From(err).Message
	default:
		assignment.Outcome, assignment.Reason = AssignmentUnconfirmed, apperror.From(err).Message
	}
}

// Destinations counts the orders of a status by where they go.
func (s *Service) Destinations(ctx context.Context, caller Caller, status models.Status) ([]db.LocationCount, error) {
	return s.db.CountOrdersByLocation(ctx, caller.Scope(), status)
}

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
	// MaxAssigned is the largest number of orders in one bulk assignment.
	MaxAssigned = 200
	// assignConcurrency bounds the concurrent moves of one bulk assignment.
	assignConcurrency = 8
)

// Errors of a bulk assignment as a whole.
var (
	ErrNothingToAssign = apperror.New(apperror.Invalid, "invalid_fields", "Marque al menos un pedido.")
	ErrTooManyToAssign = apperror.New(apperror.Invalid, "invalid_fields", "Se asignan hasta 200 pedidos a la vez. Marque menos.")
)

// AssignmentOutcome is the outcome for one order of a bulk assignment.
type AssignmentOutcome string

// The order was assigned, already had the rider, cannot be assigned, or its outcome is not
// confirmed and may be retried.
const (
	AssignmentDone        AssignmentOutcome = "assigned"
	AssignmentUnchanged   AssignmentOutcome = "unchanged"
	AssignmentRefused     AssignmentOutcome = "refused"
	AssignmentUnconfirmed AssignmentOutcome = "unconfirmed"
)

// Assignment is the result for one order of a bulk assignment.
type Assignment struct {
	ID      uuid.UUID
	Outcome AssignmentOutcome
	// Order is the order before the assignment; nil if the caller has no such order.
	Order *View
	// Reason says why it was not assigned.
	Reason string
}

// AssignMany assigns many orders to one rider. The orders succeed or fail independently; the
// results are in the order of ids, without duplicates. expected has the Seq of the orders that must
// not have moved since.
func (s *Service) AssignMany(ctx context.Context, caller Caller, riderID uuid.UUID, ids []uuid.UUID, expected map[uuid.UUID]int) ([]Assignment, error) {
	assignments := uniqueAssignments(ids)
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
	moves.SetLimit(assignConcurrency)
	for i := range assignments {
		moves.Go(func() error {
			message := workflows.Assigned{RiderID: riderID}
			if seq, known := expected[assignments[i].ID]; known {
				message.ExpectedSeq = &seq
			}
			s.assignOne(ctx, caller, message, found[assignments[i].ID], &assignments[i])
			return nil
		})
	}
	return assignments, moves.Wait()
}

func uniqueAssignments(ids []uuid.UUID) []Assignment {
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

func (s *Service) assignOne(ctx context.Context, caller Caller, message workflows.Assigned, order *models.OrderView, assignment *Assignment) {
	if order == nil {
		assignment.Outcome, assignment.Reason = AssignmentRefused, ErrOrderNotFound.Message
		return
	}
	assignment.Order = s.view(order, caller.SeesProofLocation())
	if _, verdict := order.State().Decide(models.MoveAssign, caller.Actor(), message.Rider()); verdict == models.Unchanged {
		assignment.Outcome = AssignmentUnchanged
		return
	}
	_, err := s.requestMove(ctx, caller, order, message, "")
	switch {
	case err == nil:
		assignment.Outcome = AssignmentDone
	case errors.Is(err, ErrMoveRefused), errors.Is(err, ErrOrderChanged):
		assignment.Outcome, assignment.Reason = AssignmentRefused, apperror.From(err).Message
	default:
		assignment.Outcome, assignment.Reason = AssignmentUnconfirmed, apperror.From(err).Message
	}
}

// Destinations counts the orders of a status by location.
func (s *Service) Destinations(ctx context.Context, caller Caller, status models.Status) ([]db.LocationCount, error) {
	return s.db.CountOrdersByLocation(ctx, caller.Scope(), status)
}

package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// assignableOn is the condition of the orders that HeldBack does not hold back.
const assignableOn = `(orders.substatus IS NULL OR orders.substatus <> 'returning' AND (orders.status <> 'received' OR
	orders.substatus <> 'awaiting_decision' AND (orders.next_attempt_on IS NULL OR orders.next_attempt_on <= ?)))`

// HeldBack reports whether a package stays where it is on a date, YYYY-MM-DD: it goes back to its
// store, or is at the counter until somebody decides what comes next, or until its next attempt.
func HeldBack(order *View, date string) bool {
	if order.Substatus == nil {
		return false
	}
	if *order.Substatus == models.SubstatusReturning || order.Status != models.StatusReceived {
		return *order.Substatus == models.SubstatusReturning
	}
	return *order.Substatus == models.SubstatusAwaitingDecision || order.NextAttemptOn != nil && *order.NextAttemptOn > date
}

// AssignMany assigns many orders to one rider, as moveMany does. expected has the Seq of the orders
// that must not have moved since.
func (s *Service) AssignMany(
	ctx context.Context, caller Caller, riderID uuid.UUID, ids []uuid.UUID, expected map[uuid.UUID]int,
) ([]BulkResult, error) {
	if len(ids) == 0 {
		return nil, ErrNothingSelected
	}
	if err := s.checkRider(ctx, caller, riderID); err != nil {
		return nil, err
	}
	return s.moveMany(ctx, caller, ids, bulkMove{
		done: BulkAssigned,
		message: func(order *models.OrderView) models.Message {
			message := models.Message{Move: models.MoveAssign, RiderID: &riderID}
			if seq, known := expected[order.ID]; known {
				message.ExpectedSeq = &seq
			}
			return message
		},
		isDone: func(order *models.OrderView) bool {
			_, verdict := order.State().Decide(models.MoveAssign, caller.Actor(), &riderID)
			return verdict == models.Unchanged
		},
	})
}

package orders

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

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

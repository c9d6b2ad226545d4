package orders

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"despacho/internal/jsonbody"
	"despacho/internal/money"
	"despacho/models"
)

// Handover is what was collected at deliveries that are recorded together.
type Handover struct {
	// Method is by which way everything was collected.
	Method models.Method
	// Amounts are what was collected where it is not what was to be collected.
	Amounts map[uuid.UUID]money.Cents
}

// ReadHandoverMethod reads the way of payment of deliveries that are recorded together.
func ReadHandoverMethod(in *jsonbody.Object, rules models.Rules) models.Method {
	collected := models.Collection{Method: rules.Methods()[0]}
	if in.Has(handoverMethod) {
		words := make([]string, 0, len(rules.Methods()))
		for _, method := range rules.Methods() {
			words = append(words, string(method))
		}
		if method := in.Enum(handoverMethod, words...); method != nil {
			collected.Method = models.Method(*method)
		}
	}
	if slices.Contains(rules.ReferenceMethods, collected.Method) {
		in.AddError(handoverMethod, "pide un número de operación para cada entrega: regístrelas una por una")
	}
	return collected.Method
}

const handoverMethod = "method"

// collected is what was collected for an order; nil where that is not known.
func (h Handover) collected(order *models.OrderView) *money.Cents {
	if amount, given := h.Amounts[order.ID]; given {
		return &amount
	}
	if order.AmountToCollect > 0 {
		return &order.AmountToCollect
	}
	return nil
}

// DeliverMany records the deliveries of many orders, as moveMany does. One that is delivered
// already stays as it is. expected has the Seq of the orders that must not have moved since.
func (s *Service) DeliverMany(
	ctx context.Context, caller Caller, ids []uuid.UUID, handover Handover, expected map[uuid.UUID]int,
) ([]BulkResult, error) {
	return s.moveMany(ctx, caller, ids, bulkMove{
		done: BulkDelivered,
		message: func(order *models.OrderView) models.Message {
			message := expecting(models.Message{Move: models.MoveDeliver}, order, expected)
			message.ActualAmountCollected = handover.collected(order)
			if amount := message.ActualAmountCollected; amount != nil && *amount > 0 {
				message.Collections = models.Collections{{Method: handover.Method, Amount: *amount}}
			}
			return message
		},
		isDone: func(order *models.OrderView) bool { return order.Status == models.StatusDelivered },
	})
}

// FailMany records a failed attempt of many orders for one reason, as moveMany does. expected has
// the Seq of the orders that must not have moved since: without it a repeated request is another
// attempt.
func (s *Service) FailMany(
	ctx context.Context, caller Caller, ids []uuid.UUID, failed models.Message, expected map[uuid.UUID]int,
) ([]BulkResult, error) {
	return s.moveMany(ctx, caller, ids, bulkMove{
		done:    BulkFailed,
		message: func(order *models.OrderView) models.Message { return expecting(failed, order, expected) },
		isDone:  func(*models.OrderView) bool { return false },
	})
}

// HandBackMany records that many packages were given back to their store, as moveMany does. One
// that the store has already stays as it is.
func (s *Service) HandBackMany(ctx context.Context, caller Caller, ids []uuid.UUID, note string) ([]BulkResult, error) {
	return s.moveMany(ctx, caller, ids, bulkMove{
		done:    BulkHandedBack,
		message: func(*models.OrderView) models.Message { return models.Message{Move: models.MoveHandBack, Note: note} },
		isDone:  func(order *models.OrderView) bool { return order.State().Substatus == models.SubstatusReturned },
	})
}

// expecting is a message that is refused if its order has moved since expected.
func expecting(message models.Message, order *models.OrderView, expected map[uuid.UUID]int) models.Message {
	if seq, known := expected[order.ID]; known {
		message.ExpectedSeq = &seq
	}
	return message
}

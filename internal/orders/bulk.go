package orders

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"despacho/internal/apperror"
	"despacho/internal/recovered"
	"despacho/models"
)

const (
	// MaxBulk is the largest number of orders in one bulk move.
	MaxBulk = 200
	// bulkConcurrency bounds the concurrent moves of one bulk move.
	bulkConcurrency = 8
)

// ErrNothingSelected is the error of a bulk move without orders.
var ErrNothingSelected = apperror.New(apperror.Invalid, "invalid_fields", "Marque al menos un pedido.")

// BulkOutcome is the outcome for one order of a bulk move.
type BulkOutcome string

// The order was assigned, received, delivered or cancelled, its delivery failed, or its store has
// it back; it already was as requested, cannot be moved, or its outcome is not confirmed and may be
// retried.
const (
	BulkAssigned    BulkOutcome = "assigned"
	BulkReceived    BulkOutcome = "received"
	BulkCancelled   BulkOutcome = "cancelled"
	BulkDelivered   BulkOutcome = "delivered"
	BulkFailed      BulkOutcome = "attempt_failed"
	BulkHandedBack  BulkOutcome = "returned"
	BulkUnchanged   BulkOutcome = "unchanged"
	BulkRefused     BulkOutcome = "refused"
	BulkUnconfirmed BulkOutcome = "unconfirmed"
)

// BulkResult is the result for one order of a bulk move.
type BulkResult struct {
	ID      uuid.UUID
	Outcome BulkOutcome
	// Order is the order before the move; nil if the caller has no such order.
	Order *View
	// Reason says why it was not moved.
	Reason string
}

// bulkMove is what a bulk move does with each order.
type bulkMove struct {
	done BulkOutcome
	// message requests the move of an order; isDone means that the order is as requested already.
	message func(*models.OrderView) models.Message
	isDone  func(*models.OrderView) bool
}

// moveMany moves many orders. They succeed or fail independently; the results are in the order of
// ids, without duplicates.
func (s *Service) moveMany(ctx context.Context, caller Caller, ids []uuid.UUID, bulk bulkMove) ([]BulkResult, error) {
	results := uniqueResults(ids)
	switch {
	case len(results) == 0:
		return nil, ErrNothingSelected
	case len(results) > MaxBulk:
		return nil, ErrTooManySelected
	}
	var rows []models.OrderView
	if err := caller.Scope().Orders(s.db.OrderViews(ctx)).Where("orders.id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	found := make(map[uuid.UUID]*models.OrderView, len(rows))
	for i := range rows {
		found[rows[i].ID] = &rows[i]
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.BulkMoveTimeout)
	defer cancel()
	var moves errgroup.Group
	moves.SetLimit(bulkConcurrency)
	for i := range results {
		moves.Go(func() error {
			s.moveOne(ctx, caller, bulk, found[results[i].ID], &results[i])
			return nil
		})
	}
	return results, moves.Wait()
}

func uniqueResults(ids []uuid.UUID) []BulkResult {
	var once []BulkResult
	seen := map[uuid.UUID]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			once = append(once, BulkResult{ID: id})
		}
	}
	return once
}

func (s *Service) moveOne(ctx context.Context, caller Caller, bulk bulkMove, order *models.OrderView, result *BulkResult) {
	if order == nil {
		result.Outcome, result.Reason = BulkRefused, ErrOrderNotFound.Message
		return
	}
	result.Order = s.View(caller, order)
	if bulk.isDone(order) {
		result.Outcome = BulkUnchanged
		return
	}
	err := recovered.Call(ctx, s.log, func() error {
		_, err := s.moveAndCount(ctx, caller, order, bulk.message(order), "")
		return err
	})
	switch {
	case err == nil:
		result.Outcome = bulk.done
	case errors.Is(err, ErrMoveRefused), errors.Is(err, ErrOrderChanged):
		result.Outcome, result.Reason = BulkRefused, apperror.From(err).Message
	case errors.Is(err, errAmountRequired):
		result.Outcome, result.Reason = BulkRefused, "Falta el monto cobrado: el pedido es contra entrega."
	default:
		result.Outcome, result.Reason = BulkUnconfirmed, apperror.From(err).Message
	}
}

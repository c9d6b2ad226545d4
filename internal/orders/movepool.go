package orders

import (
	"context"

	"despacho/internal/fairpool"
	"despacho/internal/inflight"
)

// newMovePool bounds the requests that move orders at the same time. Each holds one of the
// process's request slots while it waits for Temporal, which may not answer: a quarter of the slots
// is left to other requests, and one operator has no more than half of all.
func newMovePool(requestSlots int) *fairpool.Pool {
	return fairpool.New(max(1, requestSlots*3/4), max(1, requestSlots/2))
}

// enterMoves waits until the caller may move orders, without the slot of the request. leave ends
// that.
func (s *Service) enterMoves(ctx context.Context, caller Caller) (leave func(), err error) {
	operator := caller.Operator.ID.String()
	leave, entered := s.movePool.TryAcquire(operator)
	if entered {
		return leave, nil
	}
	err = inflight.WithoutSlot(ctx, func() (err error) {
		limited, cancel := context.WithTimeout(ctx, s.options.MoveTimeout)
		defer cancel()
		if leave, err = s.movePool.Acquire(limited, operator); err != nil {
			return ErrMoveUnconfirmed.Because(err)
		}
		return nil
	})
	if err != nil && leave != nil {
		leave() // there was no slot for the request to return to
	}
	return leave, err
}

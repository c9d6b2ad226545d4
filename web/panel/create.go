package panel

import (
	"context"
	"errors"
	"time"

	"despacho/internal/jsonbody"
	"despacho/orders"
)

const createRetryInterval = 100 * time.Millisecond

// createOnce creates an order unless one was created with the key, and returns it either way. A
// double click waits for the first request.
func (p *Pages) createOnce(ctx context.Context, caller orders.Caller, in *jsonbody.Object, key string) (*orders.Created, error) {
	until := time.After(p.Config.Timeouts.Request / 2)
	for {
		created, err := p.Orders.Create(ctx, caller, in, key)
		if !errors.Is(err, orders.ErrKeyInProgress) {
			return created, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-until:
			return nil, err
		case <-time.After(createRetryInterval):
		}
	}
}

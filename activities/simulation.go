package activities

import (
	"context"

	"despacho/workflows"
)

// Simulate makes a step of a test order.
func (a *Activities) Simulate(ctx context.Context, move workflows.SimulatedMove) (*workflows.SimulatedOrder, error) {
	return a.Orders.Simulate(ctx, move)
}

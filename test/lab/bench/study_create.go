package bench

import (
	"context"

	"despacho/test/lab/cluster"
)

var createComparisons = []comparison{
	{
		name: "POST /v1/orders against bare StartWorkflow calls", unit: "orders/s", goal: ratioAtLeast(0.92),
		result: "post", baseline: "bare",
	},
}

func createRows(scale) []string { return namesOf(createComparisons) }

// studyCreate measures the throughput of creations and of workflow starts.
func studyCreate(ctx context.Context, s *stack) ([]Row, error) {
	return s.measureComparisons(ctx, map[string]func(context.Context) (float64, error){
		"bare": s.main.bareOrderStarts,
		"post": func(ctx context.Context) (float64, error) {
			return s.main.creations(ctx, s.tenants.mainKeys)
		},
	}, createComparisons)
}

// creations is how many orders are created per second, until the last workflows run.
func (v *service) creations(ctx context.Context, keys *cluster.KeyRing) (float64, error) {
	s := v.stack
	clients := connections(v.api.Address, s.scale.clients)
	defer closeAll(clients)
	latest := make([]string, len(clients))
	_, rate, err := batch(ctx, len(clients), s.scale.creations, func(ctx context.Context, client int) error {
		order, err := createOrder(ctx, clients[client], cluster.Request{Key: keys.Key()})
		latest[client] = workflowOf(order)
		return err
	}, s.settled(latest))
	return rate, err
}

// bareOrderStarts is how many order workflows are started per second with the call that a creation
// makes, without the rest of the creation. The service's worker runs them.
func (v *service) bareOrderStarts(ctx context.Context) (float64, error) {
	s := v.stack
	latest := make([]string, s.scale.clients)
	_, rate, err := batch(ctx, len(latest), s.scale.creations, func(ctx context.Context, client int) (err error) {
		latest[client], err = v.startOrder(ctx)
		return err
	}, s.settled(latest))
	return rate, err
}

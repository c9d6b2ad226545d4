package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"despacho/models"
	"despacho/test/lab/cluster"
)

func createComparisons(sc scale) []comparison {
	return []comparison{
		{name: "POST /v1/orders against bare StartWorkflow calls", unit: "orders/s", goal: ratioAtLeast(0.92), result: "post", baseline: "bare"},
		{name: "POST /v1/orders with an Idempotency-Key against bare StartWorkflow calls", unit: "orders/s", result: "idempotent", baseline: "bare"},
		{name: fmt.Sprintf("POST /v1/orders, %s open orders in the database against none", formatCount(sc.openRows)), unit: "orders/s", goal: ratioAtLeast(0.80), result: "grown", baseline: "post"},
		{name: fmt.Sprintf("POST /v1/orders, keys of %s operators against keys of one", formatCount(sc.operators)), unit: "orders/s", goal: ratioAtLeast(0.80), result: "operators", baseline: "post"},
	}
}

func createRows(sc scale) []string { return namesOf(createComparisons(sc)) }

// studyCreate measures the throughput of creations and of workflow starts.
func studyCreate(ctx context.Context, s *stack) ([]Row, error) {
	comparisons := createComparisons(s.scale)
	grown, err := s.preloadedService(ctx, comparisons)
	if err != nil {
		return nil, err
	}
	rows, err := s.measureComparisons(ctx, map[string]func(context.Context) (float64, error){
		"bare": s.main.bareOrderStarts,
		"post": func(ctx context.Context) (float64, error) {
			return s.main.creations(ctx, s.tenants.mainKeys, false)
		},
		"idempotent": func(ctx context.Context) (float64, error) {
			return s.main.creations(ctx, s.tenants.mainKeys, true)
		},
		"operators": func(ctx context.Context) (float64, error) {
			return s.main.creations(ctx, s.tenants.otherKeys, false)
		},
		"grown": func(ctx context.Context) (float64, error) {
			return grown.creations(ctx, s.tenants.mainKeys, false)
		},
	}, comparisons)
	if grown != nil && err == nil {
		err = grown.stop(ctx)
	}
	return rows, err
}

// preloadedService is a second service whose database has many open orders; nil if no selected
// comparison needs it.
func (s *stack) preloadedService(ctx context.Context, comparisons []comparison) (*service, error) {
	for _, c := range comparisons {
		if c.result != "grown" || !s.options.wants(c.name) {
			continue
		}
		address, err := s.newDatabase(ctx, "bench_grown")
		if err != nil {
			return nil, err
		}
		grown, err := s.startService(ctx, address, "grown")
		if err != nil {
			return nil, err
		}
		// Not before: a worker that makes the reconcile schedule has the workflow of every open order
		// started.
		return grown, seedOrders(ctx, address,
			orderSeed{first: mainOperator, last: mainOperator, each: s.scale.openRows, status: models.StatusRegistered})
	}
	return nil, nil
}

// creations is how many orders are created per second, until the last workflows run.
func (v *service) creations(ctx context.Context, keys *cluster.KeyRing, idempotent bool) (float64, error) {
	s := v.stack
	clients := connections(v.api.Address, s.scale.clients)
	defer closeAll(clients)
	latest := make([]string, len(clients))
	_, rate, err := batch(ctx, len(clients), s.scale.creations, func(ctx context.Context, client int) error {
		r := cluster.Request{Key: keys.Key()}
		if idempotent {
			r.IdempotencyKey = uuid.NewString()
		}
		order, err := createOrder(ctx, clients[client], r)
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
	return rate, errors.Join(err, v.storeStarted(ctx))
}

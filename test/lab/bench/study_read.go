package bench

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"despacho/models"
	"despacho/test/lab/cluster"
)

var readComparisons = []comparison{
	{name: "GET /v1/orders/:id against a bare net/http + pgx handler", unit: "requests/s", goal: ratioAtLeast(0.75), result: "get", baseline: "bare"},
}

func readRows(scale) []string { return namesOf(readComparisons) }

const (
	// readSample is how many orders are read in turn.
	readSample = 1_000
	// readTurns is into how many rounds one of loadTime is divided: reads need no time to settle, and
	// the machine's speed changes less between a baseline and a result that follows a second later.
	readTurns = 5
)

// studyRead measures the throughput of reading single orders.
func studyRead(ctx context.Context, s *stack) ([]Row, error) {
	address, err := s.newDatabase(ctx, "bench_read")
	if err != nil {
		return nil, err
	}
	// As many orders of mainOperator as of all the others together.
	if err := seedOrders(ctx, address, orderSeed{first: mainOperator, last: mainOperator, each: s.scale.operators,
		status: models.StatusDelivered}); err != nil {
		return nil, err
	}
	if err := seedOrders(ctx, address, orderSeed{first: firstOther, last: firstOther + s.scale.operators - 1, each: 1,
		status: models.StatusDelivered}); err != nil {
		return nil, err
	}
	reader, err := s.startReader(ctx, address)
	if err != nil {
		return nil, err
	}
	bareHandler, err := s.startBaseline(ctx, address)
	if err != nil {
		return nil, err
	}
	orders, err := orderIDs(ctx, address, []int{mainOperator}, readSample)
	if err != nil {
		return nil, err
	}
	rows, err := s.measureRounds(ctx, readTurns*s.scale.rounds, map[string]func(context.Context) (float64, error){
		"bare": func(ctx context.Context) (float64, error) {
			return s.reads(ctx, bareHandler.Address, func() cluster.Request {
				return cluster.Request{Path: "/orders/" + orders[rand.IntN(len(orders))].String()}
			})
		},
		"get": func(ctx context.Context) (float64, error) {
			return s.reads(ctx, reader.api.Address, func() cluster.Request {
				return cluster.Request{Path: "/v1/orders/" + orders[rand.IntN(len(orders))].String(),
					Key: s.tenants.mainKeys.Key()}
			})
		},
	}, readComparisons)
	if err != nil {
		return nil, err
	}
	return rows, reader.stop(ctx)
}

// reads is how many requests a second are answered with 200.
func (s *stack) reads(ctx context.Context, address string, next func() cluster.Request) (float64, error) {
	clients := connections(address, s.scale.clients)
	defer closeAll(clients)
	return throughput(ctx, len(clients), s.readTime(), func(ctx context.Context, client int) error {
		r := next()
		r.Method = http.MethodGet
		_, err := clients[client].Expect(ctx, http.StatusOK, r)
		return err
	}, noBacklog)
}

func (s *stack) readTime() time.Duration { return s.scale.loadTime / readTurns }

// startReader is an api without a worker, for requests that do not need Temporal.
func (s *stack) startReader(ctx context.Context, databaseURL string) (*service, error) {
	v := &service{stack: s, databaseURL: databaseURL, queue: "reader"}
	var err error
	if v.api, err = v.start(ctx, cluster.API); err != nil {
		return nil, err
	}
	s.OnClose(v.api.Stop)
	return v, nil
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"despacho/internal/dev"
	"despacho/models"
	"despacho/test/lab/cluster"
)

// listKinds are what is read from databases of different sizes.
var listKinds = []struct {
	name string
	goal goal
	// written means that what an order changes in the totals is not folded yet.
	written bool
	// request makes a request of it; codes are guide codes to track.
	request func(s *stack, codes []string) cluster.Request
}{
	{name: "list page 1", goal: ratioAtMost(2), request: listRequest("")},
	{name: "list page 1, one status", goal: ratioAtMost(2), request: listRequest("?status=delivered")},
	{name: "list page 1, one status, an order just written", goal: ratioAtMost(2), written: true, request: listRequest("?status=delivered")},
	{name: "list page 1, a status that no order has", goal: ratioAtMost(2), request: listRequest("?status=assigned")},
	{name: "list page 1, since yesterday", goal: ratioAtMost(2), request: listRequest("?from_date=" + time.Now().UTC().Add(-24*time.Hour).Format(time.DateOnly))},
	{name: "tracking", goal: ratioAtMost(2), request: func(_ *stack, codes []string) cluster.Request {
		return cluster.Request{Path: "/v1/track/" + codes[rand.IntN(len(codes))], Client: randomClientAddress()}
	}},
}

func listRequest(query string) func(*stack, []string) cluster.Request {
	return func(s *stack, _ []string) cluster.Request {
		return cluster.Request{Path: "/v1/orders" + query, Key: s.tenants.mainKeys.Key()}
	}
}

// summaryLimit is the goal of the panel's summary, in milliseconds.
const summaryLimit = 300

func summaryName(sc scale) string {
	return fmt.Sprintf("panel, summary of %s orders, p50", formatCount(sc.sizes[len(sc.sizes)-1]))
}

// listComparisons compare every size with the smallest.
func listComparisons(sc scale) []comparison {
	var list []comparison
	for _, kind := range listKinds {
		for _, size := range sc.sizes[1:] {
			list = append(list, comparison{
				name: fmt.Sprintf("%s, %s orders against %s", kind.name, formatCount(size), formatCount(sc.sizes[0])), unit: "ms",
				goal:   kind.goal,
				result: sizeLabel(kind.name, size), baseline: sizeLabel(kind.name, sc.sizes[0]),
			})
		}
	}
	return list
}

func sizeLabel(prefix string, size int) string { return fmt.Sprintf("%s %09d", prefix, size) }

func listRows(sc scale) []string { return append(namesOf(listComparisons(sc)), summaryName(sc)) }

// trackSample is how many guide codes are tracked in turn, each from another client address.
const trackSample = 200

// studyLists reads the first page of an operator's list, and tracks packages, from databases of
// different sizes, one request at a time.
func studyLists(ctx context.Context, s *stack) ([]Row, error) {
	candidates := map[string]func(context.Context) (float64, error){}
	var readers []*service
	for _, size := range s.scale.sizes {
		s.options.log(fmt.Sprintf("inventing %s orders", formatCount(size)))
		reader, codes, err := s.sizedService(ctx, size)
		if err != nil {
			return nil, err
		}
		readers = append(readers, reader)
		client := cluster.NewConnection(reader.api.Address)
		defer client.Close()
		for _, kind := range listKinds {
			latency := s.sequentialLatency(client, func() cluster.Request { return kind.request(s, codes) })
			if kind.written {
				latency = reader.withNewestWritten(latency)
			}
			candidates[sizeLabel(kind.name, size)] = latency
		}
	}
	rows, err := s.measureComparisons(ctx, candidates, listComparisons(s.scale))
	if err != nil {
		return nil, err
	}
	if s.options.wants(summaryName(s.scale)) {
		row, err := s.readSummary(ctx, readers[len(readers)-1])
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	for _, reader := range readers {
		if err := reader.stop(ctx); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// readSummary opens the panel's summary of the usual period, in which all orders were created.
func (s *stack) readSummary(ctx context.Context, reader *service) (Row, error) {
	client := cluster.NewConnection(reader.api.Address)
	defer client.Close()
	token := s.tenants.sessions[mainOperator]
	measured, err := alternate(ctx, s.scale.rounds, s.sequentialLatency(client, func() cluster.Request {
		return cluster.Request{Path: "/panel/resumen", Token: token}
	}))
	if err != nil {
		return Row{}, err
	}
	return absoluteRow(summaryName(s.scale), "ms", atMost(summaryLimit), measured[0]), nil
}

// sizedService is an api on a database of size orders of one operator, and guide codes to track.
func (s *stack) sizedService(ctx context.Context, size int) (*service, []string, error) {
	address, err := s.newDatabase(ctx, fmt.Sprintf("bench_%d", size))
	if err != nil {
		return nil, nil, err
	}
	if err := seedOrders(ctx, address, orderSeed{first: mainOperator, last: mainOperator, each: size,
		status: models.StatusDelivered}); err != nil {
		return nil, nil, err
	}
	sample, err := orderIDs(ctx, address, []int{mainOperator}, trackSample)
	if err != nil {
		return nil, nil, err
	}
	codes, err := guideCodes(ctx, address, sample)
	if err != nil {
		return nil, nil, err
	}
	reader, err := s.startReader(ctx, address)
	return reader, codes, err
}

func (s *stack) sequentialLatency(
	client *cluster.Connection, next func() cluster.Request,
) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		return medianLatency(ctx, s.scale.samples, func(ctx context.Context) (time.Duration, error) {
			r := next()
			r.Method = http.MethodGet
			return timed(func(ctx context.Context) error {
				_, err := client.Expect(ctx, http.StatusOK, r)
				return err
			})(ctx)
		})
	}
}

// writeOne is what one more delivered order changes.
const writeOne = `INSERT INTO order_total_changes
	SELECT operator_id, store_id, test, day, measure, label, 1 FROM order_totals WHERE label = 'delivered' LIMIT 1`

// withNewestWritten measures while a delivered order was just written, as in a database in use.
func (v *service) withNewestWritten(measure func(context.Context) (float64, error)) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := dev.Execute(ctx, v.databaseURL, writeOne); err != nil {
			return 0, err
		}
		measured, err := measure(ctx)
		return measured, errors.Join(err, dev.Execute(ctx, v.databaseURL, "DELETE FROM order_total_changes"))
	}
}

// randomClientAddress spreads requests over the per-client rate limits.
func randomClientAddress() string {
	return fmt.Sprintf("198.51.%d.%d", rand.IntN(256), rand.IntN(256))
}

package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"despacho/lab/cluster"
	"despacho/models"
)

func listName(sc scale, size int) string {
	return fmt.Sprintf("list page 1, %s orders against %s", formatCount(size), formatCount(sc.sizes[0]))
}

func trackName(sc scale, size int) string {
	return fmt.Sprintf("tracking, %s orders against %s", formatCount(size), formatCount(sc.sizes[0]))
}

// listComparisons compare every size with the smallest, for lists and for tracking.
func listComparisons(sc scale) []comparison {
	var list []comparison
	for _, kind := range []struct {
		prefix string
		name   func(scale, int) string
	}{{"list", listName}, {"track", trackName}} {
		for _, size := range sc.sizes[1:] {
			list = append(list, comparison{
				name: kind.name(sc, size), unit: "ms", goal: ratioAtMost(2),
				result: sizeLabel(kind.prefix, size), baseline: sizeLabel(kind.prefix, sc.sizes[0]),
			})
		}
	}
	return list
}

func sizeLabel(prefix string, size int) string { return fmt.Sprintf("%s %09d", prefix, size) }

func listRows(sc scale) []string { return namesOf(listComparisons(sc)) }

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
		candidates[sizeLabel("list", size)] = s.sequentialLatency(client, func() cluster.Request {
			return cluster.Request{Path: "/v1/orders", Key: s.tenants.mainKeys.Key()}
		})
		candidates[sizeLabel("track", size)] = s.sequentialLatency(client, func() cluster.Request {
			return cluster.Request{Path: "/v1/track/" + codes[rand.IntN(len(codes))], Client: randomClientAddress()}
		})
	}
	rows, err := s.measureComparisons(ctx, candidates, listComparisons(s.scale))
	if err != nil {
		return nil, err
	}
	for _, reader := range readers {
		if err := reader.stop(ctx); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// sizedService is an api on a database of size orders of one operator, and guide codes to track.
func (s *stack) sizedService(ctx context.Context, size int) (*service, []string, error) {
	address, err := s.newDatabase(ctx, fmt.Sprintf("bench_%d", size))
	if err != nil {
		return nil, nil, err
	}
	if err := seedOrders(ctx, address, orderSeed{first: mainOperator, last: mainOperator, each: size, status: models.StatusDelivered}); err != nil {
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

func (s *stack) sequentialLatency(client *cluster.Connection, next func() cluster.Request) func(context.Context) (float64, error) {
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

// randomClientAddress spreads requests over the per-client rate limits.
func randomClientAddress() string {
	return fmt.Sprintf("198.51.%d.%d", rand.IntN(256), rand.IntN(256))
}

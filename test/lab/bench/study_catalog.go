package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"despacho/test/lab/cluster"
)

// catalogPaths are requests to every endpoint of the catalog.
var catalogPaths = []string{
	"/public/countries",
	"/public/cities?country_code=PE",
	"/public/locations?country_code=PE&q=mira",
	"/public/locations/tree?country_code=PE&city=Lima",
	"/public/locations/ubigeo?country_code=PE&codes=150122,150140,150132",
	"/public/locations/" + cluster.Lima.String() + "/children",
}

func catalogName(sc scale) string {
	return fmt.Sprintf("catalog, %s requests over its %d endpoints: the second half against the first", formatCount(sc.catalogRequests), len(catalogPaths))
}

func catalogRows(sc scale) []string { return []string{catalogName(sc)} }

// studyCatalog checks that later requests to the catalog take no longer than earlier ones.
func studyCatalog(ctx context.Context, s *stack) ([]Row, error) {
	reader, err := s.startReader(ctx, s.main.databaseURL)
	if err != nil {
		return nil, err
	}
	var all []float64
	half := func(ctx context.Context) (float64, error) {
		began := time.Now()
		times, err := s.requestCatalog(ctx, reader, s.scale.catalogRequests/2)
		all = append(all, times...)
		return float64(len(times)) / time.Since(began).Seconds(), err
	}
	halves, err := alternate(ctx, s.scale.rounds, half, half)
	if err != nil {
		return nil, err
	}
	row := ratioRow(catalogName(s.scale), "requests/s", ratioAtLeast(0.80), halves[0], halves[1]).
		withNote("p99 %s ms, with %d clients", formatFigure(cluster.Percentile(all, 99)), s.scale.clients)
	return []Row{row}, reader.stop(ctx)
}

// requestCatalog sends requests to all endpoints in turn and returns their latencies in
// milliseconds.
func (s *stack) requestCatalog(ctx context.Context, reader *service, requests int) ([]float64, error) {
	clients := connections(reader.api.Address, s.scale.clients)
	defer closeAll(clients)
	times := make([]float64, requests)
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for _, client := range clients {
		group.Go(func() error {
			for {
				n := int(next.Add(1)) - 1
				if n >= requests {
					return nil
				}
				began := time.Now()
				if _, err := client.Expect(ctx, http.StatusOK, cluster.Request{Method: http.MethodGet, Path: catalogPaths[n%len(catalogPaths)]}); err != nil {
					return err
				}
				times[n] = cluster.Milliseconds(time.Since(began))
			}
		})
	}
	return times, group.Wait()
}

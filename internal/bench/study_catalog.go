package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"despacho/internal/fleet"
)

// catalogPaths are the endpoints of the catalog, as a store's checkout asks them.
var catalogPaths = []string{
	"/public/countries",
	"/public/cities?country_code=PE",
	"/public/locations?country_code=PE&q=mira",
	"/public/locations/tree?country_code=PE&city=Lima",
	"/public/locations/ubigeo?country_code=PE&codes=150122,150140,150132",
	"/public/locations/" + lima.String() + "/children",
}

func catalogName(sc scale) string {
	return fmt.Sprintf("catalog, %s requests over its %d endpoints: the last tenth against the first", count(sc.catalogRequests), len(catalogPaths))
}

func catalogRows(sc scale) []string { return []string{catalogName(sc)} }

// studyCatalog asks the catalog again and again and looks whether the last requests take longer than the first.
func studyCatalog(ctx context.Context, s *stack) ([]Row, error) {
	reader, err := s.startReader(ctx, s.main.databaseURL)
	if err != nil {
		return nil, err
	}
	if _, err := s.askCatalog(ctx, reader, len(catalogPaths)*s.scale.clients); err != nil { // warms up
		return nil, err
	}
	var first, last, all []float64
	began := time.Now()
	for range s.scale.rounds {
		var tenths []float64
		for range 10 {
			times, err := s.askCatalog(ctx, reader, s.scale.catalogRequests/10)
			if err != nil {
				return nil, err
			}
			all, tenths = append(all, times...), append(tenths, median(times))
		}
		first, last = append(first, tenths[0]), append(last, tenths[9])
	}
	rate := float64(len(all)) / time.Since(began).Seconds()
	row := against(catalogName(s.scale), "ms", ratioAtMost(1.25), first, last).
		noted("%s requests/s, p99 %s ms, with %d clients", figure(rate), figure(fleet.Percentile(all, 99)), s.scale.clients)
	return []Row{row}, reader.stop(ctx)
}

// askCatalog sends so many requests, over all endpoints in turn, and returns what each took in milliseconds.
func (s *stack) askCatalog(ctx context.Context, reader *service, requests int) ([]float64, error) {
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
				if _, err := client.Expect(ctx, http.StatusOK, fleet.Request{Method: http.MethodGet, Path: catalogPaths[n%len(catalogPaths)]}); err != nil {
					return err
				}
				times[n] = milliseconds(time.Since(began))
			}
		})
	}
	return times, group.Wait()
}

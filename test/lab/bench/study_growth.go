package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

// openTimeout is how long the workflows of the open orders may take to start.
const openTimeout = 2 * time.Hour

func growthName(sc scale) string {
	return fmt.Sprintf("POST /v1/orders, %s open workflows against few", formatCount(sc.openOrders))
}

func fullName(process string, sc scale) string {
	return fmt.Sprintf("RSS of the %s, %s open orders", process, formatCount(sc.openOrders))
}

func growthRows(sc scale) []string {
	return []string{fullName("api", sc), fullName("worker", sc), growthName(sc)}
}

// studyGrowth measures what thousands of open orders cost in memory, and in the throughput of new
// orders. Temporal cannot be emptied again, so before and after cannot be measured by turns: the
// ratio of orders to bare workflows is compared instead.
func studyGrowth(ctx context.Context, s *stack) ([]Row, error) {
	// A new service: memory that other studies left in the worker must not count.
	address, err := s.newDatabase(ctx, "bench_growth")
	if err != nil {
		return nil, err
	}
	v, err := s.startService(ctx, address, "growth")
	if err != nil {
		return nil, err
	}
	before, err := v.compareWithBare(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.createUntilOpen(ctx, s.scale.openOrders); err != nil {
		return nil, err
	}
	memory, err := idleRSS(ctx, v.api, v.worker)
	if err != nil {
		return nil, err
	}
	after, err := v.compareWithBare(ctx)
	if err != nil {
		return nil, err
	}
	return []Row{
		absoluteRow(fullName("api", s.scale), "MiB", atMost(200), memory[:1]),
		absoluteRow(fullName("worker", s.scale), "MiB", atMost(250), memory[1:]),
		growthRow(growthName(s.scale), before, after),
	}, v.stop(ctx)
}

// bareAndOrders are rounds of both, measured by turns.
type bareAndOrders struct{ bare, orders []float64 }

func (v *service) compareWithBare(ctx context.Context) (*bareAndOrders, error) {
	if !v.stack.options.wants(growthName(v.stack.scale)) {
		return nil, nil
	}
	measured, err := alternate(ctx, v.stack.scale.rounds, v.bareOrderStarts, func(ctx context.Context) (float64, error) {
		return v.creations(ctx, "post-growth", v.stack.tenants.mainKeys, false)
	})
	if err != nil {
		return nil, err
	}
	return &bareAndOrders{bare: measured[0], orders: measured[1]}, nil
}

// growthRow compares the ratios, so that a slower machine or Temporal server does not count against
// the orders.
func growthRow(name string, before, after *bareAndOrders) Row {
	if before == nil || after == nil {
		return Row{Name: name}
	}
	atFirst := median(ratios(before.orders, before.bare))
	base, grown := median(before.orders), ratios(after.orders, after.bare)
	for i := range grown {
		grown[i] /= atFirst
	}
	ratio := median(grown)
	row := Row{Name: name, Unit: "orders/s", Baseline: &base, Result: median(after.orders), Ratio: &ratio, Spread: spreadOf(grown), OK: true}
	return row.withNote("the ratio is that of orders to bare starts, after against before; bare starts went from %s to %s a second",
		formatFigure(median(before.bare)), formatFigure(median(after.bare)))
}

// createUntilOpen creates orders until that many are open.
func (v *service) createUntilOpen(ctx context.Context, open int) error {
	var already int
	err := dev.OnDatabase(ctx, v.databaseURL, func(connection *pgx.Conn) error {
		return connection.QueryRow(ctx, "SELECT count(*) FROM orders WHERE status NOT IN ('delivered', 'cancelled')").Scan(&already)
	})
	if err != nil {
		return err
	}
	v.stack.options.log(fmt.Sprintf("opening %s orders", formatCount(max(0, open-already))))
	clients := connections(v.api.Address, v.stack.scale.clients)
	defer closeAll(clients)
	latest := make([]string, len(clients))
	var left atomic.Int64
	left.Store(int64(open - already))
	group, loading := errgroup.WithContext(ctx)
	for i, client := range clients {
		group.Go(func() error {
			for left.Add(-1) >= 0 {
				order, err := createOrder(loading, client, cluster.Request{Key: v.stack.tenants.mainKeys.Key()})
				if err != nil {
					return err
				}
				latest[i] = workflowOf(order)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	// More orders are created than fit into the starter's queue: some newer ones have their workflow
	// before older ones, which the reconcile workflow starts.
	err = dev.OnDatabase(ctx, v.databaseURL, func(connection *pgx.Conn) error { return allStarted(ctx, connection, openTimeout) })
	if err != nil {
		return err
	}
	return v.stack.settled(latest)(ctx)
}

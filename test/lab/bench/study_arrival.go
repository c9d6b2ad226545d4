package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
	"despacho/test/lab/cluster"
)

const (
	rowArrivalMedian = "commit to webhook arrival, unloaded p50"
	rowArrivalTail   = "commit to webhook arrival, unloaded p99"
)

func arrivalRows(scale) []string { return []string{rowArrivalMedian, rowArrivalTail} }

// studyArrival measures the time from the commit of a move to the arrival of its event, one order
// at a time. The commit's time is PostgreSQL's own.
func studyArrival(ctx context.Context, s *stack) ([]Row, error) {
	caller := s.main.operatorClient(webhookOperator)
	defer caller.Close()
	drain(s.receiver.arrivals)
	var medians, tails, all []float64
	for round := range s.scale.rounds + 1 {
		delays, err := s.arrivals(ctx, caller)
		if err != nil {
			return nil, err
		}
		if round > 0 { // the first only warms up
			medians, tails = append(medians, median(delays)), append(tails, cluster.Percentile(delays, 99))
			all = append(all, delays...)
		}
	}
	tail := absoluteRow(rowArrivalTail, "ms", atMost(500), []float64{cluster.Percentile(all, 99)}).
		withNote("%d events: order.created, order.assigned and order.delivered; the slowest took %s ms", len(all),
			formatFigure(slices.Max(all)))
	tail.Spread = spreadOf(tails)
	return []Row{absoluteRow(rowArrivalMedian, "ms", atMost(50), medians), tail}, nil
}

// notifiedMoves are the seq numbers of the moves with an event, from creation to delivery.
var notifiedMoves = []int{1, 3, 4}

// arrivals are the delays, in milliseconds, of the events of a round's orders.
func (s *stack) arrivals(ctx context.Context, caller *operatorClient) ([]float64, error) {
	var delays []float64
	for range s.scale.samples {
		order, arrived, err := s.runOrder(ctx, caller)
		if err != nil {
			return nil, err
		}
		committed, err := s.main.commitsOf(ctx, order, len(notifiedMoves)+1)
		if err != nil {
			return nil, err
		}
		for i, seq := range notifiedMoves {
			delays = append(delays, cluster.Milliseconds(arrived[i].Sub(committed[seq])))
		}
	}
	return delays, nil
}

// runOrder moves an order from creation to delivery and notes when each event arrived.
func (s *stack) runOrder(ctx context.Context, caller *operatorClient) (order uuid.UUID, arrived []time.Time, err error) {
	if order, err = caller.create(ctx); err != nil {
		return order, nil, err
	}
	awaitEvent := func() {
		var at time.Time
		if err == nil {
			at, err = s.receiver.arrival(ctx)
			arrived = append(arrived, at)
		}
	}
	awaitEvent()
	for _, step := range []struct {
		move     func(context.Context, uuid.UUID) error
		notified bool
	}{{caller.receive, false}, {caller.assign, true}, {caller.deliver, true}} {
		if err != nil {
			return order, nil, err
		}
		if err = step.move(ctx, order); step.notified {
			awaitEvent()
		}
	}
	return order, arrived, err
}

// commitsOf are the times at which the moves of an order, so many at least, were committed, by
// their number.
func (v *service) commitsOf(ctx context.Context, order uuid.UUID, moves int) (map[int]time.Time, error) {
	times := map[int]time.Time{}
	err := dev.OnDatabase(ctx, v.databaseURL, func(connection *pgx.Conn) error {
		rows, err := connection.Query(ctx,
			"SELECT seq, pg_xact_commit_timestamp(xmin) FROM order_events WHERE order_id = $1 AND seq IS NOT NULL", order)
		if err != nil {
			return err
		}
		var seq int
		var at time.Time
		_, err = pgx.ForEachRow(rows, []any{&seq, &at}, func() error { times[seq] = at; return nil })
		return err
	})
	if err == nil && len(times) < moves {
		err = fmt.Errorf("order %s has %d moves", order, len(times))
	}
	return times, err
}

// drain discards earlier arrivals.
func drain(arrivals <-chan time.Time) {
	for {
		select {
		case <-arrivals:
		default:
			return
		}
	}
}

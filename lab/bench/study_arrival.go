package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/lab/cluster"
)

const (
	rowArrivalMedian = "commit to webhook arrival, unloaded p50"
	rowArrivalTail   = "commit to webhook arrival, unloaded p99"
)

func arrivalRows(scale) []string { return []string{rowArrivalMedian, rowArrivalTail} }

// studyArrival times how long after its commit an event is with its receiver, one order at a time.
// The commit's time is PostgreSQL's own.
func studyArrival(ctx context.Context, s *stack) ([]Row, error) {
	people := s.main.staffOf(theHooked)
	defer people.Close()
	drain(s.receiver.arrivals)
	var medians, tails, all []float64
	for round := range s.scale.rounds + 1 {
		delays, err := s.arrivals(ctx, people)
		if err != nil {
			return nil, err
		}
		if round > 0 { // the first only warms up
			medians, tails = append(medians, median(delays)), append(tails, cluster.Percentile(delays, 99))
			all = append(all, delays...)
		}
	}
	tail := alone(rowArrivalTail, "ms", atMost(500), []float64{cluster.Percentile(all, 99)}).
		noted("%d events: order.created, order.assigned and order.delivered; the slowest took %s ms", len(all), figure(slices.Max(all)))
	tail.Spread = spreadOf(tails)
	return []Row{alone(rowArrivalMedian, "ms", atMost(50), medians), tail}, nil
}

// toldMoves are the numbers of the moves that are told, in a life from creation to delivery.
var toldMoves = []int{1, 3, 4}

// arrivals are the delays, in milliseconds, of the events of a round's lives.
func (s *stack) arrivals(ctx context.Context, people *staff) ([]float64, error) {
	var delays []float64
	for range s.scale.samples {
		order, arrived, err := s.toldLife(ctx, people)
		if err != nil {
			return nil, err
		}
		committed, err := s.main.commitsOf(ctx, order)
		if err != nil {
			return nil, err
		}
		for i, seq := range toldMoves {
			delays = append(delays, milliseconds(arrived[i].Sub(committed[seq])))
		}
	}
	return delays, nil
}

// toldLife leads an order through its life and notes when each event was with the receiver.
func (s *stack) toldLife(ctx context.Context, people *staff) (order uuid.UUID, arrived []time.Time, err error) {
	if order, err = people.create(ctx); err != nil {
		return order, nil, err
	}
	hear := func() {
		var at time.Time
		if err == nil {
			at, err = s.receiver.arrival(ctx)
			arrived = append(arrived, at)
		}
	}
	hear()
	for _, step := range []struct {
		move func(context.Context, uuid.UUID) error
		told bool
	}{{people.receive, false}, {people.assign, true}, {people.deliver, true}} {
		if err != nil {
			return order, nil, err
		}
		if err = step.move(ctx, order); step.told {
			hear()
		}
	}
	return order, arrived, err
}

// commitsOf are the times at which the moves of an order were committed, by their number.
func (v *service) commitsOf(ctx context.Context, order uuid.UUID) (map[int]time.Time, error) {
	times := map[int]time.Time{}
	err := onDatabase(ctx, v.databaseURL, func(connection *pgx.Conn) error {
		rows, err := connection.Query(ctx, "SELECT seq, pg_xact_commit_timestamp(xmin) FROM order_events WHERE order_id = $1 AND seq IS NOT NULL", order)
		if err != nil {
			return err
		}
		var seq int
		var at time.Time
		_, err = pgx.ForEachRow(rows, []any{&seq, &at}, func() error { times[seq] = at; return nil })
		return err
	})
	if err == nil && len(times) < len(toldMoves)+1 {
		err = fmt.Errorf("order %s has %d moves", order, len(times))
	}
	return times, err
}

// drain forgets what arrived before anybody waited for it.
func drain(arrivals <-chan time.Time) {
	for {
		select {
		case <-arrivals:
		default:
			return
		}
	}
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"despacho/internal/dev"
	"despacho/models"
	"despacho/test/lab/cluster"
)

const rowNeighbours = "commit to webhook arrival, p50, while another operator's hundred webhooks hang under load, against calm"

func neighbourRows(scale) []string { return []string{rowNeighbours} }

const (
	// noisyOperator is the one whose webhooks hang: those of each group take the events of the whole
	// operator or of one of its stores, as many as an owner may have. Every other one has retries.
	noisyOperator              = firstOther
	noisyGroups, noisyPerGroup = 5, 20
	// noisyInterval is the time between the orders of the load: 81 in 30 seconds.
	noisyInterval = 30 * time.Second / 81
	// neighbourRounds bounds the rounds, each of which is a quarter calm and three quarters load.
	neighbourRounds = 4
	// noisySettleTimeout is how long the deliveries of the load may take to end after it.
	noisySettleTimeout = 2 * time.Minute
)

// studyNeighbours measures the time from the commit of a creation to the arrival of its event, one
// order at a time, in calm and while another operator creates orders whose events go to webhooks
// that hang, at the same host, by turns. The load begins with new webhooks in every round, so that
// what happens before their circuits open counts.
func studyNeighbours(ctx context.Context, s *stack) ([]Row, error) {
	caller := s.main.operatorClient(webhookOperator)
	defer caller.Close()
	stores, err := s.addStores(ctx, noisyGroups-1)
	if err != nil {
		return nil, err
	}
	if _, err := s.creationArrival(ctx, caller, s.scale.loadTime); err != nil { // warms up
		return nil, err
	}
	var calm, loaded []float64
	var orders int64
	for range min(s.scale.rounds, neighbourRounds) {
		before, err := s.creationArrival(ctx, caller, s.scale.loadTime)
		if err != nil {
			return nil, err
		}
		load, err := s.startNoisyLoad(ctx, stores)
		if err != nil {
			return nil, err
		}
		beside, err := s.creationArrival(ctx, caller, 3*s.scale.loadTime)
		if err := errors.Join(err, load.stop()); err != nil {
			return nil, err
		}
		calm, loaded, orders = append(calm, before), append(loaded, beside), orders+load.orders.Load()
	}
	if s.receiver.hanging.Load() == 0 {
		return nil, errors.New("no event hung")
	}
	row := ratioRow(rowNeighbours, "ms", ratioAtMost(2), calm, loaded).
		withNote("%d orders of the other operator, each for %d webhooks that hang, half of them with retries", orders,
			2*noisyPerGroup)
	return []Row{row}, nil
}

// creationArrival is the median time from a creation's commit to its event's arrival, in
// milliseconds, of the creations in a time.
func (s *stack) creationArrival(ctx context.Context, caller *operatorClient, duration time.Duration) (float64, error) {
	drain(s.receiver.arrivals)
	var delays []float64
	for began := time.Now(); time.Since(began) < duration; {
		order, err := caller.create(ctx)
		if err != nil {
			return 0, err
		}
		arrived, err := s.receiver.arrival(ctx)
		if err != nil {
			return 0, err
		}
		committed, err := s.main.commitsOf(ctx, order, 1)
		if err != nil {
			return 0, err
		}
		delays = append(delays, cluster.Milliseconds(arrived.Sub(committed[1])))
	}
	return median(delays), nil
}

// noisyLoad is the load of noisyOperator.
type noisyLoad struct {
	orders atomic.Int64
	stop   func() error
}

// startNoisyLoad registers the webhooks that hang and creates orders until it is stopped; then the
// webhooks are deactivated, which ends their deliveries. It returns when the first events hang.
func (s *stack) startNoisyLoad(ctx context.Context, stores []uuid.UUID) (*noisyLoad, error) {
	key := s.tenants.otherKeys.Keys[0]
	var webhooks []string
	for group := range noisyGroups {
		for i := range noisyPerGroup {
			members := map[string]any{"url": s.receiver.URL + hangingPath, "events": models.Events, "retry": i%2 == 1}
			if group > 0 {
				members["store_id"] = stores[group-1]
			}
			webhook, err := s.main.register(ctx, key, members)
			if err != nil {
				return nil, err
			}
			webhooks = append(webhooks, webhook)
		}
	}
	loading, end := context.WithCancel(ctx)
	load, ended := &noisyLoad{}, make(chan error, 1)
	go func() { ended <- load.create(loading, s.main, key, stores) }()
	load.stop = func() error {
		end()
		err := <-ended
		for _, webhook := range webhooks {
			err = errors.Join(err, s.main.deactivate(ctx, key, webhook))
		}
		return errors.Join(err, s.awaitSettled(ctx))
	}
	hanging := s.receiver.hanging.Load()
	if err := cluster.Poll(ctx, cluster.CallTimeout, "no event hangs",
		func() (bool, error) { return s.receiver.hanging.Load() > hanging, nil }); err != nil {
		return nil, errors.Join(err, load.stop())
	}
	return load, nil
}

// awaitSettled waits until no delivery of noisyOperator is pending, except those whose next attempt
// is so far away that it does not disturb.
func (s *stack) awaitSettled(ctx context.Context) error {
	return dev.OnDatabase(ctx, s.main.databaseURL, func(connection *pgx.Conn) error {
		return cluster.Poll(ctx, noisySettleTimeout, "the deliveries of the load do not end", func() (settled bool, err error) {
			err = connection.QueryRow(ctx, `SELECT NOT EXISTS (SELECT 1 FROM deliveries
				WHERE operator_id = $1 AND status = 'pending' AND next_attempt_at < now() + interval '2 minutes')`, id("operator", noisyOperator)).Scan(&settled)
			return settled, err
		})
	})
}

// addStores gives noisyOperator more stores.
func (s *stack) addStores(ctx context.Context, count int) (stores []uuid.UUID, err error) {
	return stores, dev.OnDatabase(ctx, s.main.databaseURL, func(connection *pgx.Conn) error {
		for i := range count {
			stores = append(stores, uuid.New())
			_, err := connection.Exec(ctx, "INSERT INTO stores (id, operator_id, name, active, created_at) VALUES ($1, $2, $3, true, now())",
				stores[i], id("operator", noisyOperator), fmt.Sprintf("Tienda %d", i))
			if err != nil {
				return err
			}
		}
		_, err := connection.Exec(ctx, "UPDATE operators SET settings_version = settings_version + 1 WHERE id = $1",
			id("operator", noisyOperator))
		return err
	})
}

// create creates orders of the stores in turn until ctx ends.
func (l *noisyLoad) create(ctx context.Context, v *service, key string, stores []uuid.UUID) error {
	client := cluster.NewConnection(v.api.Address)
	defer client.Close()
	tick := time.NewTicker(noisyInterval)
	defer tick.Stop()
	for ; ; l.orders.Add(1) {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		_, err := client.Expect(ctx, http.StatusCreated, cluster.Request{
			Method: http.MethodPost, Path: "/v1/orders", Key: key,
			Body: cluster.NewOrder(map[string]any{"store_id": stores[int(l.orders.Load())%len(stores)]}),
		})
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

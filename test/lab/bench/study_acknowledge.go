package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"

	"despacho/test/lab/cluster"
)

const (
	rowStartDelay = "commit of a creation to its workflow running, unloaded p50"
	// awayClients is how many clients create orders with Temporal there and away.
	awayClients = 16
	// tailTime is how long they do: some thousand orders, whose workflows Temporal then starts for
	// half a minute.
	tailTime = time.Second
	// alonePause is roughly what a workflow's first task takes.
	alonePause = 10 * time.Millisecond
)

func acknowledgeComparisons(sc scale) []comparison {
	burst := fmt.Sprintf("POST /v1/orders, %s at once from %d clients", formatCount(sc.burst), sc.burstClients)
	return []comparison{
		{name: "POST /v1/orders, unloaded p50 against a bare net/http + pgx handler", unit: "ms", goal: ratioAtMost(2.5), result: "post", baseline: "bare"},
		{name: burst + ": acknowledged, against that bare handler", unit: "orders/s", goal: ratioAtLeast(0.5), result: "burst", baseline: "bare burst"},
		{name: burst + ": until the last workflow runs, against bare StartWorkflow calls", unit: "orders/s", goal: ratioAtLeast(0.85), result: "burst started", baseline: "bare starts"},
		{name: fmt.Sprintf("POST /v1/orders p99, %d clients, with a Temporal that does not answer against one that does", awayClients), unit: "ms", goal: ratioAtMost(1.2), result: "away", baseline: "there"},
	}
}

func acknowledgeRows(sc scale) []string {
	return append(namesOf(acknowledgeComparisons(sc)), rowStartDelay)
}

// studyAcknowledge measures what a store's system waits for, the 201, and when the workflow of an
// acknowledged order runs.
func studyAcknowledge(ctx context.Context, s *stack) ([]Row, error) {
	address, err := s.newDatabase(ctx, "bench_bare")
	if err != nil {
		return nil, err
	}
	bare, err := s.startBaseline(ctx, address)
	if err != nil {
		return nil, err
	}
	away, err := s.startWithoutTemporal(ctx)
	if err != nil {
		return nil, err
	}
	var started float64 // of the last burst; 0 once it is used
	burst := func(ctx context.Context) (acknowledged float64, err error) {
		acknowledged, started, err = s.burst(ctx)
		return acknowledged, err
	}
	rows, err := s.measureComparisons(ctx, map[string]func(context.Context) (float64, error){
		"bare":        func(ctx context.Context) (float64, error) { return s.bareAlone(ctx, bare.Address) },
		"post":        s.createAlone,
		"bare burst":  func(ctx context.Context) (float64, error) { return s.bareBurst(ctx, bare.Address) },
		"burst":       burst,
		"bare starts": s.main.startBurst,
		"burst started": func(ctx context.Context) (rate float64, err error) {
			if started == 0 { // the row of the acknowledgements was not asked for
				_, err = burst(ctx)
			}
			rate, started = started, 0
			return rate, err
		},
		"there": func(ctx context.Context) (float64, error) { return s.createTail(ctx, s.main.api.Address) },
		"away":  func(ctx context.Context) (float64, error) { return s.createTail(ctx, away.api.Address) },
	}, acknowledgeComparisons(s.scale))
	if err != nil {
		return nil, err
	}
	if s.options.wants(rowStartDelay) {
		row, err := s.startDelays(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, away.stop(ctx)
}

// startWithoutTemporal is an api whose Temporal takes connections and never answers. Its orders
// have a database of their own, where nobody looks for their workflows.
func (s *stack) startWithoutTemporal(ctx context.Context) (*service, error) {
	silent, err := net.Listen("tcp", net.JoinHostPort(cluster.Loopback, "0"))
	if err != nil {
		return nil, err
	}
	s.OnClose(func(context.Context) error { return silent.Close() })
	address, err := s.newDatabase(ctx, "bench_away")
	if err != nil {
		return nil, err
	}
	v := &service{stack: s, databaseURL: address, queue: "away", temporal: silent.Addr().String()}
	if v.api, err = v.start(ctx, cluster.API); err == nil {
		s.OnClose(v.api.Stop)
	}
	return v, err
}

// bareAlone is the median time of a creation by the bare handler, in milliseconds. There is a pause
// between two of them, as there is between two of the service's.
func (s *stack) bareAlone(ctx context.Context, address string) (float64, error) {
	client := cluster.NewConnection(address)
	defer client.Close()
	return medianLatency(ctx, s.scale.samples, func(ctx context.Context) (time.Duration, error) {
		if err := cluster.Sleep(ctx, alonePause); err != nil {
			return 0, err
		}
		return timed(func(ctx context.Context) error { return s.postOrder(ctx, client, "/orders") })(ctx)
	})
}

// createAlone is the median time of a creation, in milliseconds. The next one begins when the
// workflow of the one before has done its first task: Temporal is idle again.
func (s *stack) createAlone(ctx context.Context) (float64, error) {
	client := cluster.NewConnection(s.main.api.Address)
	defer client.Close()
	return medianLatency(ctx, s.scale.samples, func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		order, err := createOrder(ctx, client, cluster.Request{Key: s.tenants.mainKeys.Key()})
		took := time.Since(began)
		if err != nil {
			return 0, err
		}
		return took, s.waitForIdle(ctx, workflowOf(order))
	})
}

func (s *stack) postOrder(ctx context.Context, client *cluster.Connection, path string) error {
	_, err := client.Expect(ctx, http.StatusCreated,
		cluster.Request{Method: http.MethodPost, Path: path, Key: s.tenants.mainKeys.Key(), Body: newOrder})
	return err
}

// createTail is the 99th percentile of the times of creations by awayClients, in milliseconds.
func (s *stack) createTail(ctx context.Context, address string) (float64, error) {
	clients := connections(address, awayClients)
	defer closeAll(clients)
	latest, took := make([]string, len(clients)), make([][]float64, len(clients))
	_, err := throughput(ctx, len(clients), tailTime, func(ctx context.Context, client int) error {
		began := time.Now()
		order, err := createOrder(ctx, clients[client], cluster.Request{Key: s.tenants.mainKeys.Key()})
		took[client], latest[client] = append(took[client], cluster.Milliseconds(time.Since(began))), workflowOf(order)
		return err
	}, noBacklog)
	if err == nil && address == s.main.api.Address {
		err = s.settled(latest)(ctx) // the next measurement begins with an idle Temporal
	}
	return cluster.Percentile(slices.Concat(took...), 99), err
}

// bareBurst is how many creations a second the bare handler acknowledges.
func (s *stack) bareBurst(ctx context.Context, address string) (float64, error) {
	clients := connections(address, s.scale.burstClients)
	defer closeAll(clients)
	rate, _, err := s.callBurst(ctx, func(ctx context.Context, client int) (string, error) {
		return "", s.postOrder(ctx, clients[client], "/orders")
	})
	return rate, err
}

// burst is how many creations a second the service acknowledges, and how many a second have their
// workflow when the last one runs.
func (s *stack) burst(ctx context.Context) (acknowledged, started float64, err error) {
	clients := connections(s.main.api.Address, s.scale.burstClients)
	defer closeAll(clients)
	return s.callBurst(ctx, func(ctx context.Context, client int) (string, error) {
		order, err := createOrder(ctx, clients[client], cluster.Request{Key: s.tenants.mainKeys.Key()})
		return workflowOf(order), err
	})
}

// callBurst makes the calls of a burst. It returns how many a second returned, and how many a
// second when the last workflow of each client runs; a call without a workflow returns "".
func (s *stack) callBurst(
	ctx context.Context, call func(ctx context.Context, client int) (workflowID string, err error),
) (returned, settled float64, err error) {
	latest := make([]string, s.scale.burstClients)
	return batch(ctx, len(latest), s.scale.burst, func(ctx context.Context, client int) (err error) {
		latest[client], err = call(ctx, client)
		return err
	}, s.settled(latest))
}

// startDelays measures the time from the commit of a creation, which is PostgreSQL's own, to the
// begin of its first workflow task, which is Temporal's.
func (s *stack) startDelays(ctx context.Context) (Row, error) {
	caller := s.main.operatorClient(mainOperator)
	defer caller.Close()
	var medians []float64
	for round := range s.scale.rounds + 1 {
		delays := make([]float64, s.scale.samples)
		for i := range delays {
			order, err := caller.create(ctx)
			if err != nil {
				return Row{}, err
			}
			committed, err := s.main.commitsOf(ctx, order, 1)
			if err != nil {
				return Row{}, err
			}
			running, err := s.firstTask(ctx, workflowOf(order))
			if err != nil {
				return Row{}, err
			}
			delays[i] = cluster.Milliseconds(running.Sub(committed[1]))
		}
		if round > 0 { // the first only warms up
			medians = append(medians, median(delays))
		}
	}
	return absoluteRow(rowStartDelay, "ms", atMost(15), medians), nil
}

// firstTask is when a worker began the first workflow task of a workflow.
func (s *stack) firstTask(ctx context.Context, workflowID string) (time.Time, error) {
	if err := s.waitForIdle(ctx, workflowID); err != nil {
		return time.Time{}, err
	}
	events := s.Client.GetWorkflowHistory(ctx, workflowID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return time.Time{}, err
		}
		if event.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_STARTED {
			return event.GetEventTime().AsTime(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s has no workflow task", workflowID)
}

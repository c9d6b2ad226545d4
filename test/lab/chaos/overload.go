package chaos

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"despacho/test/lab/cluster"
)

const (
	// capacityClients is how many clients measure the service's capacity, capacityTime for how
	// long.
	capacityClients = 16
	capacityTime    = 3 * time.Second
	// overloadFactor is the overload's request rate as a multiple of the capacity. A refused client
	// waits a second for its response and asks again, every retryInterval in all on a busy machine:
	// capacity × overloadFactor × retryInterval clients ask at that rate.
	overloadFactor = 10
	retryInterval  = 1300 * time.Millisecond
	// pageSize is the limit of the clients' lists.
	pageSize = 200
	// maxResponseTime is the largest p99 in an overload: each statement waits a second at most, and
	// the clients run on the same machine.
	maxResponseTime = 5 * time.Second
	// maxMemory is what an api may hold, in MiB, as with ten thousand open orders, and
	// memoryPerConnection what each connection may add.
	maxMemory, memoryPerConnection = 200, 1.0 / 16
	// maxRecovery bounds the return to normal latency.
	maxRecovery = 10 * time.Second
)

// overloadFigures are the results of an overload.
type overloadFigures struct {
	Clients        int            `json:"clients"`
	NormalRate     float64        `json:"normal_requests_per_second"`
	NormalP50      float64        `json:"normal_p50_ms"`
	NormalP99      float64        `json:"normal_p99_ms"`
	OverloadFor    string         `json:"overload_for"`
	ServedRate     float64        `json:"served_requests_per_second"`
	RefusedRate    float64        `json:"refused_requests_per_second"`
	P50            float64        `json:"p50_ms"`
	P99            float64        `json:"p99_ms"`
	Slowest        float64        `json:"slowest_ms"`
	Statuses       map[string]int `json:"answers"`
	RSSBefore      float64        `json:"rss_before_mib"`
	RSSMost        float64        `json:"rss_most_mib"`
	RecoveredAfter string         `json:"recovered_after"`
}

func (f *overloadFigures) String() string {
	return fmt.Sprintf(`%d clients: %.0f requests/s, p50 %.1f ms, p99 %.1f ms
%d clients for %s, who ask for %.1f times as much: %.0f requests/s served, %.0f refused, p50 %.0f ms, p99 %.0f ms, slowest %.0f ms; answers %v
memory of an api: %.0f MiB before, %.0f MiB at the most; latency back to normal after %s`,
		capacityClients, f.NormalRate, f.NormalP50, f.NormalP99,
		f.Clients, f.OverloadFor, (f.ServedRate+f.RefusedRate)/f.NormalRate, f.ServedRate, f.RefusedRate, f.P50, f.P99, f.Slowest,
		f.Statuses, f.RSSBefore, f.RSSMost, f.RecoveredAfter)
}

// runOverload measures the capacity, overloads the service, and measures latency, memory and the
// time to recover.
func runOverload(ctx context.Context, s *stack) error {
	if err := s.ensureOrders(ctx, pageSize); err != nil {
		return err
	}
	f := &overloadFigures{OverloadFor: s.options.Overload.String()}
	s.report.Overload = f
	s.options.logf("measuring what %d clients get", capacityClients)
	normal := s.measureLoad(ctx, capacityClients, capacityTime)
	f.NormalRate, f.NormalP50, f.NormalP99 = normal.rate(http.StatusOK), normal.percentile(50), normal.percentile(99)
	f.Clients = min(int(overloadFactor*f.NormalRate*retryInterval.Seconds()), s.options.MostClients)
	var err error
	if f.RSSBefore, err = s.maxRSS(); err != nil {
		return err
	}
	s.options.logf("sending %d clients for %s", f.Clients, s.options.Overload)
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for cluster.Sleep(watching, 200*time.Millisecond) == nil {
			if now, err := s.maxRSS(); err == nil {
				f.RSSMost = max(f.RSSMost, now)
			}
		}
	})
	overloaded := s.measureLoad(ctx, f.Clients, s.options.Overload)
	stop()
	watch.Wait()
	f.ServedRate, f.RefusedRate = overloaded.rate(http.StatusOK),
		overloaded.rate(http.StatusServiceUnavailable, http.StatusTooManyRequests)
	f.P50, f.P99, f.Slowest, f.Statuses = overloaded.percentile(50), overloaded.percentile(99), overloaded.percentile(100),
		overloaded.answers
	f.RecoveredAfter = s.measureRecovery(ctx, f)
	s.checkOverload(f, overloaded)
	return ctx.Err()
}

func (s *stack) checkOverload(f *overloadFigures, overloaded *overloadRun) {
	r := s.report
	r.checked(invariantRefusal, len(overloaded.times))
	if f.P99 > cluster.Milliseconds(maxResponseTime) {
		r.violate(invariantRefusal, "p99", "%.0f ms is more than %s", f.P99, maxResponseTime)
	}
	if f.RefusedRate == 0 {
		r.violate(invariantRefusal, "overload", "nobody was refused: this was no overload")
	}
	if failed := f.Statuses[noAnswer]; failed > 0 {
		r.violate(invariantRefusal, "overload", "%d requests got no answer, the first: %v", failed, overloaded.failure)
	}
	r.checked(invariantMemory, 1)
	if bound := maxMemory + memoryPerConnection*float64(f.Clients); f.RSSMost > bound {
		r.violate(invariantMemory, "api", "%.0f MiB is more than %.0f", f.RSSMost, bound)
	}
	r.checked(invariantRecovery, 1)
	if f.RecoveredAfter == "" {
		r.violate(invariantRecovery, "latency", "still above %.1f ms", recoveredLatency(f))
	}
}

// ensureOrders creates orders until there are count.
func (s *stack) ensureOrders(ctx context.Context, count int) error {
	c := s.newClient(stream(s.options.Seed, planStream))
	defer c.close()
	for len(s.ledger.acknowledged()) < count {
		key := c.newIdempotencyKey()
		body, cash := newOrder(c.rng, key)
		tracked := s.ledger.open(key, "forgotten", body, cash)
		tracked.apiKey, tracked.finished = s.operator.key(0), true
		if err := c.create(ctx, tracked); err != nil {
			return err
		}
	}
	return nil
}

// maxRSS is the memory of the larger api.
func (s *stack) maxRSS() (most float64, err error) {
	for _, name := range apiNames {
		child, _ := s.processes[name].current()
		held, err := cluster.RSS(child.Pid())
		if err != nil {
			return 0, err
		}
		most = max(most, held)
	}
	return most, nil
}

// recoveredLatency is the median latency, in milliseconds, that counts as recovered.
func recoveredLatency(f *overloadFigures) float64 { return 2*f.NormalP50 + 10 }

// measureRecovery returns the time until latency was normal again; empty if it took too long.
func (s *stack) measureRecovery(ctx context.Context, f *overloadFigures) string {
	began := time.Now()
	for time.Since(began) < maxRecovery && ctx.Err() == nil {
		if after := s.measureLoad(ctx, capacityClients, time.Second); after.percentile(50) <= recoveredLatency(f) &&
			after.answers["200"] == len(after.times) {
			return time.Since(began).Round(100 * time.Millisecond).String()
		}
	}
	return ""
}

// noAnswer is the status of a request without a response.
const noAnswer = "none"

// overloadRun is the latencies and statuses of a measureLoad.
type overloadRun struct {
	mu      sync.Mutex
	took    time.Duration
	times   []float64
	answers map[string]int
	failure error
}

// measureLoad has clients list orders in a closed loop for a duration.
func (s *stack) measureLoad(ctx context.Context, clients int, duration time.Duration) *overloadRun {
	result := &overloadRun{answers: map[string]int{}}
	began := time.Now()
	var reading sync.WaitGroup
	for number := range clients {
		reading.Go(func() {
			c := s.newClient(stream(s.options.Seed, uint64(number)))
			defer c.close()
			for time.Since(began) < duration && ctx.Err() == nil {
				r := cluster.Request{Method: http.MethodGet, Path: fmt.Sprintf("/v1/orders?limit=%d", pageSize),
					Key: s.operator.key(number)}
				sent := time.Now()
				limited, cancel := context.WithTimeout(ctx, callTimeout)
				answer, err := c.at(s.balancer.pick()).Try(limited, r)
				cancel()
				result.add(time.Since(sent), answer, err)
			}
		})
	}
	reading.Wait()
	result.took = time.Since(began)
	return result
}

func (o *overloadRun) add(took time.Duration, answer *cluster.Answer, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.times = append(o.times, cluster.Milliseconds(took))
	if err != nil {
		o.answers[noAnswer]++
		o.failure = err
		return
	}
	o.answers[fmt.Sprint(answer.Status)]++
}

func (o *overloadRun) percentile(p float64) float64 { return cluster.Percentile(o.times, p) }

// rate is how many requests a second were answered with one of the statuses.
func (o *overloadRun) rate(statuses ...int) float64 {
	total := 0
	for _, status := range statuses {
		total += o.answers[fmt.Sprint(status)]
	}
	return float64(total) / o.took.Seconds()
}

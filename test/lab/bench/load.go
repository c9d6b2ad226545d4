package bench

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"despacho/test/lab/cluster"
)

// alternate measures each candidate once as a warm-up and discards that, then all of them by turns:
// A, B, A, B, … A drift of the machine then affects all of them alike. It returns the rounds of
// each.
func alternate(ctx context.Context, rounds int, candidates ...func(context.Context) (float64, error)) ([][]float64, error) {
	measured := make([][]float64, len(candidates))
	for round := range rounds + 1 {
		for i, candidate := range candidates {
			value, err := candidate(ctx)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				measured[i] = append(measured[i], value)
			}
		}
	}
	return measured, nil
}

// throughput has clients call in a closed loop for a duration and returns calls per second. The
// time until settle returns counts as well, so that deferred work is not free. The first call that
// fails ends it.
func throughput(
	ctx context.Context, clients int, duration time.Duration, call func(ctx context.Context, client int) error,
	settle func(context.Context) error,
) (float64, error) {
	var calls atomic.Int64
	began := time.Now()
	end := began.Add(duration)
	group, calling := errgroup.WithContext(ctx)
	for client := range clients {
		group.Go(func() error {
			for time.Now().Before(end) {
				if err := call(calling, client); err != nil {
					return err
				}
				calls.Add(1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	if err := settle(ctx); err != nil {
		return 0, err
	}
	return float64(calls.Load()) / time.Since(began).Seconds(), nil
}

// batch has clients make so many calls as fast as they are answered. It returns calls per second,
// until the last one returned and until settle has returned as well. The first call that fails ends
// it.
func batch(
	ctx context.Context, clients, count int, call func(ctx context.Context, client int) error, settle func(context.Context) error,
) (returned, settled float64, err error) {
	var calls atomic.Int64
	began := time.Now()
	rate := func() float64 { return float64(count) / time.Since(began).Seconds() }
	group, calling := errgroup.WithContext(ctx)
	for client := range clients {
		group.Go(func() (err error) {
			for err == nil && calls.Add(1) <= int64(count) {
				err = call(calling, client)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	returned = rate()
	if err := settle(ctx); err != nil {
		return 0, 0, err
	}
	return returned, rate(), nil
}

// noBacklog is the settle of calls that defer no work.
func noBacklog(context.Context) error { return nil }

// medianLatency makes one call after the other and returns the median of their durations in
// milliseconds. A call returns its own duration, so that its preparation does not count.
func medianLatency(ctx context.Context, samples int, call func(context.Context) (time.Duration, error)) (float64, error) {
	times := make([]float64, samples)
	for i := range times {
		took, err := call(ctx)
		if err != nil {
			return 0, err
		}
		times[i] = cluster.Milliseconds(took)
	}
	return median(times), nil
}

// timed measures a whole call.
func timed(call func(context.Context) error) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		err := call(ctx)
		return time.Since(began), err
	}
}

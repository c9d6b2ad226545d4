package bench

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// alternate measures each of the contenders once and throws that away, then all of them by turns:
// A, B, A, B, … What drifts while it runs, such as another program on the machine, then falls on
// all of them alike. It returns the rounds of each.
func alternate(ctx context.Context, rounds int, contenders ...func(context.Context) (float64, error)) ([][]float64, error) {
	measured := make([][]float64, len(contenders))
	for round := range rounds + 1 {
		for i, contender := range contenders {
			value, err := contender(ctx)
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

// throughput has so many clients call again and again for a while, each as soon as it has its
// answer, and returns calls per second. What they leave to be done afterwards, which settle waits
// for, counts as well: whoever puts it off longer is not the faster one. The first call that fails
// ends it.
func throughput(ctx context.Context, clients int, lasting time.Duration, call func(ctx context.Context, client int) error, settle func(context.Context) error) (float64, error) {
	var calls atomic.Int64
	began := time.Now()
	end := began.Add(lasting)
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

// nothingLeft is for calls that leave nothing to be done.
func nothingLeft(context.Context) error { return nil }

// typical makes one call after the other and returns the median of what they took, in milliseconds.
// Each call says itself how long it took: what it needs to prepare does not count.
func typical(ctx context.Context, samples int, call func(context.Context) (time.Duration, error)) (float64, error) {
	times := make([]float64, samples)
	for i := range times {
		took, err := call(ctx)
		if err != nil {
			return 0, err
		}
		times[i] = milliseconds(took)
	}
	return median(times), nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// timed is a call all of whose time counts.
func timed(call func(context.Context) error) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		err := call(ctx)
		return time.Since(began), err
	}
}

package chaos

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"despacho/test/lab/cluster"
)

// stepDelay is the wait before each replacement.
const stepDelay = time.Second

// runRolling is a rolling restart under load: one api and one worker, then the others. No request
// may be lost.
func runRolling(ctx context.Context, s *stack) error {
	if err := s.awaitBalancer(ctx); err != nil {
		return err
	}
	s.report.forbidLoss(true)
	defer s.report.forbidLoss(false)
	before := s.report.counter("requests")
	clients := s.startLoad(ctx, firstClient+uint64(s.options.Clients), scenarios)
	err := cluster.Sleep(ctx, stepDelay)
	for i := range apiNames {
		if err != nil {
			break
		}
		group, replacing := errgroup.WithContext(ctx)
		for _, name := range []string{apiNames[i], workerNames[i]} {
			group.Go(func() error {
				began := time.Now()
				defer func() { s.options.logf("%s was replaced in %s", name, time.Since(began).Round(10*time.Millisecond)) }()
				s.report.count("processes replaced under load")
				return s.processes[name].replace(replacing)
			})
		}
		if err = group.Wait(); err == nil {
			err = s.awaitBalancer(ctx)
		}
	}
	clients.finish()
	s.report.checked(invariantLossless, s.report.counter("requests")-before)
	return err
}

// awaitBalancer returns when the balancer sees every process ready.
func (s *stack) awaitBalancer(ctx context.Context) error {
	allReady := func() (bool, error) { return s.balancer.allReady(), nil }
	if err := cluster.Poll(ctx, startTimeout, "not all processes are ready", allReady); err != nil {
		return err
	}
	return cluster.Sleep(ctx, stepDelay)
}

package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"despacho/test/lab/cluster"
)

// runFaults runs the load while the plan's faults are injected, and waits for the load to finish.
func runFaults(ctx context.Context, s *stack) error {
	plan := planFaults(s.options.Seed, s.options.Duration, s.options.Pause)
	s.report.Faults = plan
	s.options.logf("seed %d: %d faults in %s, %d clients whose orders and moves follow from the same seed", s.options.Seed,
		len(plan), s.options.Duration, s.options.Clients)
	for _, f := range plan {
		s.options.logf("%s", f)
	}
	clients := s.startLoad(ctx, firstClient, scenarios)
	clients.addManyMoves(ctx)
	err := s.runPlan(ctx, plan)
	clients.finish()
	return err
}

// runPlan injects each fault at its time and returns when the last is undone and the duration has
// passed.
func (s *stack) runPlan(ctx context.Context, plan []fault) error {
	began := time.Now()
	var mu sync.Mutex
	var failed []error
	locks := map[string]*sync.Mutex{}
	for _, f := range plan {
		if locks[f.key()] == nil {
			locks[f.key()] = &sync.Mutex{}
		}
	}
	var running sync.WaitGroup
	for _, f := range plan {
		if err := cluster.Sleep(ctx, time.Until(began.Add(f.At))); err != nil {
			break
		}
		running.Go(func() {
			// One fault at a time for each target.
			locks[f.key()].Lock()
			defer locks[f.key()].Unlock()
			s.report.count(fmt.Sprintf("faults: %s", f.Kind))
			if err := s.applyFault(context.WithoutCancel(ctx), f); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, fmt.Errorf("%s %s: %w", f.Kind, f.Target, err))
			}
		})
	}
	running.Wait()
	failed = append(failed, cluster.Sleep(ctx, time.Until(began.Add(s.options.Duration))))
	return errors.Join(failed...)
}

// key identifies the fault's target.
func (f fault) key() string { return cmp.Or(f.Target, string(f.Kind)) }

// applyFault injects a fault and undoes it after its time. A killed process is restarted.
func (s *stack) applyFault(ctx context.Context, f fault) error {
	wait := func() { _ = cluster.Sleep(ctx, f.For) }
	switch {
	case f.Kind == fullDisk:
		if err := s.disk.fill(); err != nil {
			return err
		}
		wait()
		return s.disk.free()
	case f.Kind == receiverDown:
		if err := s.receivers.receiver.Kill(); err != nil {
			return err
		}
		wait()
		return s.receivers.receiver.Restart()
	case f.Target == databaseServer && f.Kind == kill:
		s.Postgres.Kill()
		wait()
		return s.Postgres.Restart(ctx)
	case f.Target == temporalServer && f.Kind == kill:
		s.Temporal.Kill()
		wait()
		return s.Temporal.Restart(ctx)
	case f.Kind == kill:
		p := s.processes[f.Target]
		old, _ := p.current()
		p.kill(f.For)
		return p.awaitReady(ctx, old)
	}
	paused := s.pausable(f.Target)
	paused.Pause()
	wait()
	paused.Resume()
	return nil
}

// pausable is a target that can be paused with SIGSTOP.
func (s *stack) pausable(target string) interface {
	Pause()
	Resume()
} {
	switch target {
	case databaseServer:
		return s.Postgres
	case temporalServer:
		return s.Temporal
	}
	child, _ := s.processes[target].current()
	return child
}

package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// runFaults is the fault run: clients work while the plan is carried out, and finish what they have
// begun.
func runFaults(ctx context.Context, s *stack) error {
	plan := planFaults(s.options.Seed, s.options.Duration, s.options.Pause)
	s.report.Faults = plan
	s.options.say("seed %d: %d faults in %s, %d clients whose orders and moves follow from the same seed", s.options.Seed, len(plan), s.options.Duration, s.options.Clients)
	for _, f := range plan {
		s.options.say("%s", f)
	}
	crowd := s.startCrowd(ctx, firstClient)
	err := s.carryOut(ctx, plan)
	crowd.finish()
	return err
}

// carryOut makes each fault at its time and returns when the last is undone and the run's time is
// over.
func (s *stack) carryOut(ctx context.Context, plan []fault) error {
	began := time.Now()
	var mu sync.Mutex
	var failed []error
	locks := map[string]*sync.Mutex{}
	for _, f := range plan {
		if locks[f.key()] == nil {
			locks[f.key()] = &sync.Mutex{}
		}
	}
	var going sync.WaitGroup
	for _, f := range plan {
		if err := sleep(ctx, time.Until(began.Add(f.At))); err != nil {
			break
		}
		going.Go(func() {
			// Nothing is broken twice at a time.
			locks[f.key()].Lock()
			defer locks[f.key()].Unlock()
			s.report.count(fmt.Sprintf("faults: %s", f.Kind), 1)
			if err := s.inflict(context.WithoutCancel(ctx), f); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, fmt.Errorf("%s %s: %w", f.Kind, f.Target, err))
			}
		})
	}
	going.Wait()
	failed = append(failed, sleep(ctx, time.Until(began.Add(s.options.Duration))))
	return errors.Join(failed...)
}

// key names what the fault breaks.
func (f fault) key() string { return cmp.Or(f.Target, string(f.Kind)) }

// inflict breaks something and mends it again. Whoever is killed is started anew, as a supervisor
// of processes does.
func (s *stack) inflict(ctx context.Context, f fault) error {
	lasting := func() { _ = sleep(ctx, f.For) }
	switch {
	case f.Kind == fullDisk:
		if err := s.disk.fill(); err != nil {
			return err
		}
		lasting()
		return s.disk.free()
	case f.Kind == receiverDown:
		if err := s.audience.receiver.Die(); err != nil {
			return err
		}
		lasting()
		return s.audience.receiver.Return()
	case f.Target == databaseServer && f.Kind == kill:
		s.postgres.Kill()
		lasting()
		return s.postgres.Restart(ctx)
	case f.Target == temporalServer && f.Kind == kill:
		s.temporal.server.Kill()
		lasting()
		return s.temporal.restart(ctx)
	case f.Kind == kill:
		m := s.members[f.Target]
		old, _ := m.current()
		m.kill(f.For)
		return m.untilReady(ctx, old)
	}
	frozen := s.freezable(f.Target)
	frozen.Pause()
	lasting()
	frozen.Resume()
	return nil
}

// freezable is what can stand still.
func (s *stack) freezable(target string) interface {
	Pause()
	Resume()
} {
	switch target {
	case databaseServer:
		return s.postgres
	case temporalServer:
		return s.temporal.server
	}
	child, _ := s.members[target].current()
	return child
}

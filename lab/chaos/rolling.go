package chaos

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// breath is how long the clients work before the first processes are replaced, and before the next.
const breath = time.Second

// runRolling replaces every process while clients work behind a balancer, as a new version is
// rolled out: one api and one worker, then the others. No request may be lost.
func runRolling(ctx context.Context, s *stack) error {
	if err := s.untilBalanced(ctx); err != nil {
		return err
	}
	s.report.forbidLoss(true)
	defer s.report.forbidLoss(false)
	before := s.report.number("requests")
	crowd := s.startCrowd(ctx, firstClient+uint64(s.options.Clients))
	err := sleep(ctx, breath)
	for i := range apiNames {
		if err != nil {
			break
		}
		group, replacing := errgroup.WithContext(ctx)
		for _, name := range []string{apiNames[i], workerNames[i]} {
			group.Go(func() error {
				began := time.Now()
				defer func() { s.options.say("%s was replaced in %s", name, time.Since(began).Round(10*time.Millisecond)) }()
				s.report.count("processes replaced under load", 1)
				return s.members[name].replace(replacing)
			})
		}
		if err = group.Wait(); err == nil {
			err = s.untilBalanced(ctx)
		}
	}
	crowd.finish()
	s.report.checked(invariantLossless, s.report.number("requests")-before)
	return err
}

// untilBalanced returns when the balancer has everybody to send requests to.
func (s *stack) untilBalanced(ctx context.Context) error {
	if err := poll(ctx, startPatience, "the balancer does not see everybody ready", s.balancer.complete); err != nil {
		return err
	}
	return sleep(ctx, breath)
}

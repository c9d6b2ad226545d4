package chaos

import (
	"context"
	"errors"
	"slices"
	"time"
)

// settleIn is how long the clients work before the first process is replaced, and between two.
const settleIn = 2 * time.Second

// runRolling replaces every process, one after the other, as a new version is rolled out, while clients work behind a balancer. No request may be
// lost.
func runRolling(ctx context.Context, s *stack) error {
	s.report.forbidLoss(true)
	defer s.report.forbidLoss(false)
	crowd := s.startCrowd(ctx, firstClient+uint64(s.options.Clients))
	before := s.report.number("requests")
	err := sleep(ctx, settleIn)
	for _, name := range slices.Concat(apiNames, workerNames) {
		if err != nil {
			break
		}
		s.options.say("replacing %s", name)
		began := time.Now()
		err = errors.Join(s.members[name].replace(ctx), sleep(ctx, settleIn))
		s.options.say("%s was replaced in %s", name, (time.Since(began) - settleIn).Round(10*time.Millisecond))
		s.report.count("processes replaced under load", 1)
	}
	crowd.finish()
	if err != nil {
		return err
	}
	s.report.checked(invariantLossless, s.report.number("requests")-before)
	return s.settleAndCheck(ctx)
}

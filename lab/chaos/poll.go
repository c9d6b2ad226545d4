package chaos

import (
	"context"
	"fmt"
	"time"
)

const (
	// startTimeout bounds a start on a busy machine.
	startTimeout = 2 * time.Minute
	pollEvery    = 50 * time.Millisecond
)

// poll waits until a condition holds; what describes the failure after the timeout.
func poll(ctx context.Context, timeout time.Duration, what string, holds func() bool) error {
	end := time.Now().Add(timeout)
	for !holds() {
		if time.Now().After(end) {
			return fmt.Errorf("%s after %s", what, timeout)
		}
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

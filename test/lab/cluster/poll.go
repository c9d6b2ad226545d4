package cluster

import (
	"context"
	"fmt"
	"time"
)

// PollInterval is the pause between two calls of Poll.
const PollInterval = 10 * time.Millisecond

// Poll calls reached until it returns true or an error. what describes the failure after the
// timeout.
func Poll(ctx context.Context, timeout time.Duration, what string, reached func() (bool, error)) error {
	return PollEvery(ctx, PollInterval, timeout, what, reached)
}

// PollEvery is Poll with the pause between two calls.
func PollEvery(ctx context.Context, interval, timeout time.Duration, what string, reached func() (bool, error)) error {
	for end := time.Now().Add(timeout); ; {
		if done, err := reached(); done || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s after %s", what, timeout)
		}
		if err := Sleep(ctx, interval); err != nil {
			return err
		}
	}
}

// Sleep waits unless ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

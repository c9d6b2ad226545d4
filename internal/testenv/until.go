package testenv

import (
	"testing"
	"time"
)

// pollStep is short enough not to slow a test down and long enough not to burden what it waits for.
const pollStep = 20 * time.Millisecond

// Until repeats check until it returns nil; after the deadline the test fails with the last error.
func Until(t testing.TB, deadline time.Duration, check func() error) {
	t.Helper()
	end := time.Now().Add(deadline)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within %s: %v", deadline, err)
		}
		time.Sleep(pollStep)
	}
}

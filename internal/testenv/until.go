package testenv

import (
	"testing"
	"time"
)

// Soon bounds what takes moments on an idle machine. It is long, because only a test that fails waits for its end, and a machine can be very busy.
const Soon = time.Minute

const (
	// firstStep is short enough not to slow a test down and long enough not to burden what it waits for.
	firstStep = 20 * time.Millisecond
	// longestStep keeps a check that is a request within what the service allows in a minute, for as long as Soon.
	longestStep = time.Second
)

// Until repeats check until it returns nil; after the deadline the test fails with the last error. The longer it waits, the less often it asks.
func Until(t testing.TB, deadline time.Duration, check func() error) {
	t.Helper()
	began := time.Now()
	for {
		err := check()
		if err == nil {
			return
		}
		waited := time.Since(began)
		if waited > deadline {
			t.Fatalf("not within %s: %v", deadline, err)
		}
		time.Sleep(min(max(waited/10, firstStep), longestStep))
	}
}

// Within requires that what is measured takes less than the limit. A busy machine can hold up anything, so it is measured again: what is too slow
// by itself is so every time.
func Within(t testing.TB, limit time.Duration, measure func() time.Duration) {
	t.Helper()
	const tries = 4
	var took []time.Duration
	for range tries {
		took = append(took, measure())
		if took[len(took)-1] < limit {
			return
		}
	}
	t.Fatalf("not within %s, however often: %v", limit, took)
}

// Package poll is how tests wait for something to happen.
package poll

import (
	"testing"
	"time"
)

// Deadline bounds every wait of a test. Only a hang reaches it: it is many times what anything
// takes on a machine that is busy with other work, and only a test that fails waits for its end.
const Deadline = 10 * time.Minute

const (
	// firstStep is short enough not to slow a test down and long enough not to burden what it waits
	// for.
	firstStep = 20 * time.Millisecond
	// longestStep keeps a check that makes requests below the rate limit.
	longestStep = time.Second
)

// Until repeats check until it returns nil; after Deadline the test fails with the last error. The
// longer it waits, the less often it asks.
func Until(t testing.TB, check func() error) {
	t.Helper()
	began := time.Now()
	for {
		err := check()
		if err == nil {
			return
		}
		waited := time.Since(began)
		if waited > Deadline {
			t.Fatalf("not within %s: %v", Deadline, err)
		}
		time.Sleep(min(max(waited/10, firstStep), longestStep))
	}
}

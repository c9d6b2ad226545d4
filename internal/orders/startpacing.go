package orders

import (
	"runtime"
	"time"
)

const (
	// MaxStartConcurrency is how many workflows a process starts at once while no order was created
	// for creationPause. Temporal starts more workflows a second for more callers. On a Temporal
	// server with two processors 32 were too many: matching gives a task that meets a waiting poller
	// one second to be recorded as started, and tasks that missed it waited for their timeout.
	MaxStartConcurrency = 16
	creationPause       = 50 * time.Millisecond
	// startsBehind is how long orders wait before twice as many are started at once, though others
	// are created meanwhile.
	startsBehind = 2 * time.Second
	// In a burst, for burstTime from when more than burstQueue orders wait, a goroutine pauses before
	// a start for startPause times as long as the one before took, but for no longer than
	// maxStartPause: Temporal on the same machine leaves the processors to the answers. A burst ends
	// so that starts catch up with orders that are created without end.
	burstQueue    = 64
	burstTime     = 2 * time.Second
	startPause    = 3
	maxStartPause = 100 * time.Millisecond
	// slowStart is how long a start may take before another goroutine goes on beside it, so that one
	// order whose start hangs does not hold the others up.
	slowStart = time.Second
)

// startConcurrency is how many workflows a process starts at once while it creates orders: one for
// two processors. Where Temporal is on the same machine, more would hold the answers to creations
// up.
func startConcurrency() int { return min(max(1, runtime.GOMAXPROCS(0)/2), MaxStartConcurrency) }

// creating is whether an order was created within creationPause.
func (s *starter) creating() bool {
	return time.Now().UnixNano()-s.lastQueued.Load() <= int64(creationPause)
}

// inBurst is whether orders are created, and for burstTime at most more than burstQueue wait.
func (s *starter) inBurst() bool {
	return s.creating() && len(s.queue) > burstQueue && time.Now().UnixNano()-s.lastShortQueue.Load() <= int64(burstTime)
}

// allowed is how many workflows may be started at once when an order is the next. A move comes
// before a start: somebody waits for it, and it may itself start a workflow.
func (s *starter) allowed(next queuedStart) int {
	most := max(s.concurrency, MaxStartConcurrency-s.movesInProgress())
	if !s.creating() {
		return most
	}
	allowed := s.concurrency
	for waited := time.Since(next.queued); waited > startsBehind && allowed < most; waited -= startsBehind {
		allowed *= 2
	}
	return min(allowed, most)
}

// atOnce is how many goroutines start orders, without those whose start is slow.
func (s *starter) atOnce() int {
	return MaxStartConcurrency - len(s.idleSlots) - int(s.slow.Load())
}

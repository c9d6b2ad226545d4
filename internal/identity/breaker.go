package identity

import (
	"cmp"
	"sync"
	"time"

	"despacho/internal/clock"
)

const (
	// DefaultBreakerFailures is how many failures in a row give a provider rest.
	DefaultBreakerFailures = 5
	// DefaultBreakerRest is how long a failing provider is left alone.
	DefaultBreakerRest = 30 * time.Second
)

// breaker keeps a failing provider from being asked, so that a dead one costs nothing. After its
// rest one attempt goes through, and the others wait for what comes of it. Refusals for want of
// credit count as failures: they do not get better by asking.
type breaker struct {
	limit int
	rest  time.Duration
	clock clock.Clock

	mu          sync.Mutex
	failures    int // in a row
	lastFailure Outcome
	restsUntil  time.Time
	probing     bool
}

// attempt is a leave to ask, to be given back with leave or abandon.
type attempt struct {
	probe bool
}

func newBreaker(options Options) *breaker {
	return &breaker{
		limit: cmp.Or(options.BreakerFailures, DefaultBreakerFailures),
		rest:  cmp.Or(options.BreakerRest, DefaultBreakerRest),
		clock: options.Clock,
	}
}

// enter gives leave to ask, or the outcome of the last failure while there is none to give.
func (b *breaker) enter() (attempt, Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.limit {
		return attempt{}, ""
	}
	if b.probing || b.clock.Now().Before(b.restsUntil) {
		return attempt{}, b.lastFailure
	}
	b.probing = true
	return attempt{probe: true}, ""
}

// leave counts what came of an attempt and tells whether the provider rests from now on.
func (b *breaker) leave(a attempt, outcome Outcome) (rests bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(a)
	if outcome.settles() {
		b.failures = 0
		return false
	}
	b.failures++
	b.lastFailure = outcome
	// Those that were under way when the rest began do not prolong it.
	if rests = b.failures == b.limit || (a.probe && b.failures > b.limit); rests {
		b.restsUntil = b.clock.Now().Add(b.rest)
	}
	return rests
}

// abandon gives back an attempt that says nothing about the provider.
func (b *breaker) abandon(a attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(a)
}

func (b *breaker) end(a attempt) {
	if a.probe {
		b.probing = false
	}
}

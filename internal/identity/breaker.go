package identity

import (
	"cmp"
	"sync"
	"time"

	"despacho/internal/clock"
)

const (
	// defaultBreakerFailures is how many consecutive failures open a breaker.
	defaultBreakerFailures = 5
	// defaultBreakerCooldown is how long an open breaker rejects requests.
	defaultBreakerCooldown = 30 * time.Second
)

// breaker is a circuit breaker for one provider. While it is open, requests fail at once with the
// last outcome. After the cooldown one trial request goes through, and the others keep failing
// until it ends. Rejections for lack of quota count as failures: retrying does not help.
type breaker struct {
	limit    int
	cooldown time.Duration
	clock    clock.Clock

	mu          sync.Mutex
	failures    int // consecutive
	lastFailure Outcome
	openUntil   time.Time
	probing     bool
}

// attempt is a request that the breaker allowed. It ends with report or abandon.
type attempt struct {
	probe bool
}

func newBreaker(options Options) *breaker {
	return &breaker{
		limit:    cmp.Or(options.BreakerFailures, defaultBreakerFailures),
		cooldown: cmp.Or(options.BreakerCooldown, defaultBreakerCooldown),
		clock:    options.Clock,
	}
}

// allow returns an attempt, or the outcome of the last failure while the breaker is open.
func (b *breaker) allow() (attempt, Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.limit {
		return attempt{}, ""
	}
	// More than the cooldown is left only if the clock was set back.
	if left := b.openUntil.Sub(b.clock.Now()); b.probing || (left > 0 && left <= b.cooldown) {
		return attempt{}, b.lastFailure
	}
	b.probing = true
	return attempt{probe: true}, ""
}

// report records the outcome of an attempt and returns whether it opened the breaker.
func (b *breaker) report(a attempt, outcome Outcome) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(a)
	if outcome.isConclusive() {
		b.failures = 0
		return false
	}
	b.failures++
	b.lastFailure = outcome
	// Requests that were in flight when the breaker opened do not extend the cooldown.
	if opened = b.failures == b.limit || (a.probe && b.failures > b.limit); opened {
		b.openUntil = b.clock.Now().Add(b.cooldown)
	}
	return opened
}

// abandon ends an attempt whose outcome says nothing about the provider.
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

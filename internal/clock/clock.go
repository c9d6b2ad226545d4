// Package clock is the one source of the current time outside workflows, so that tests can set it.
package clock

import (
	"sync"
	"time"
)

// Clock returns the current time in UTC with microsecond precision. PostgreSQL stores no more, so a
// time is read back exactly as it was written.
type Clock interface {
	Now() time.Time
}

// System is the system clock.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return Normalize(time.Now()) }

// Normalize converts a time to the form of every stored time.
func Normalize(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Manual is a clock that only moves when it is told to.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual returns a clock set to t.
func NewManual(t time.Time) *Manual { return &Manual{now: Normalize(t)} }

// Now returns the clock's time.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Set moves the clock to t.
func (m *Manual) Set(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = Normalize(t)
}

// Advance moves the clock forward by d.
func (m *Manual) Advance(d time.Duration) { m.Set(m.Now().Add(d)) }

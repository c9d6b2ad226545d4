package credentials

import "testing"

// SetCompare replaces what compares a password with a hash until the test ends.
func SetCompare(t *testing.T, replacement func(hash, password []byte) error) {
	t.Helper()
	before := compare
	compare = replacement
	t.Cleanup(func() { compare = before })
}

// CommonCount is the length of the list of common passwords.
func CommonCount() int { return len(commonPasswords()) }

// MaxWaiting is the length of a pool's queue.
const MaxWaiting = maxWaiting

// NewPoolOf returns a pool that compares size passwords at once.
func NewPoolOf(size int) *Pool { return newPool(size) }

// Waiting is how many passwords are compared or wait for it.
func (p *Pool) Waiting() int64 { return p.waiting.Load() }

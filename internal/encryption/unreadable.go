package encryption

import (
	"errors"
	"fmt"
)

// Unreadable counts the values that no key opens, in a run that goes on with the others.
type Unreadable struct {
	count int
	first error
}

// Add counts an error that wraps ErrOpen, and returns false for any other.
func (u *Unreadable) Add(err error) bool {
	if !errors.Is(err, ErrOpen) {
		return false
	}
	if u.count++; u.first == nil {
		u.first = err
	}
	return true
}

// Err is nil if every value was opened. It wraps ErrOpen and names the first value that was not.
func (u *Unreadable) Err() error {
	if u.count == 0 {
		return nil
	}
	return fmt.Errorf("values that no key opens, left as they are: %d, the first: %w", u.count, u.first)
}

package credentials

import "testing"

// SetCompare replaces what compares a password with a hash until the test ends.
func SetCompare(t *testing.T, replacement func(hash, password []byte) error) {
	t.Helper()
	before := compare
	compare = replacement
	t.Cleanup(func() { compare = before })
}

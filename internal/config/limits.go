package config

// Limits are how many attempts to sign in a clock minute has room for. They are not configurable;
// tests, which all sign in from one address, raise them.
type Limits struct {
	// SignInsPerAccount bounds the attempts with one e-mail address.
	SignInsPerAccount int
	// SignInsPerAddress bounds those from one client address.
	SignInsPerAddress int
}

// DefaultLimits are those of the running service.
func DefaultLimits() Limits { return Limits{SignInsPerAccount: 10, SignInsPerAddress: 30} }

// Package principal carries in a context who makes a request, so that what it changes can be
// attributed to them.
package principal

import (
	"context"

	"github.com/google/uuid"
)

// Principal is who makes a request: a panel user or an API key. The command line and the service
// itself have neither.
type Principal struct {
	UserID *uuid.UUID
	KeyID  *uuid.UUID
	// Address is the client's IP address, empty if there is none.
	Address string
}

type key struct{}

// With returns a context that carries the principal.
func With(ctx context.Context, p Principal) context.Context { return context.WithValue(ctx, key{}, p) }

// From returns the context's principal, or the zero value.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(key{}).(Principal)
	return p
}

// Package inflight lets code that waits in a queue of its own give the slot of its request back
// meanwhile, so that those who wait do not keep other requests out.
package inflight

import (
	"cmp"
	"context"
)

// Slot is the slot that a request holds among those handled at the same time.
type Slot interface {
	// Release gives the slot back.
	Release()
	// Reacquire waits for a slot again until ctx ends.
	Reacquire(ctx context.Context) error
}

type slotKey struct{}

// WithSlot returns a context that carries the request's slot.
func WithSlot(ctx context.Context, slot Slot) context.Context {
	return context.WithValue(ctx, slotKey{}, slot)
}

// WithoutSlot runs work without the slot of the request, if ctx carries one. Once the work has
// ended, the request waits for a slot as long as ctx allows: refused then, its caller would take
// what was done for undone. It does so also if the work fails: the caller may go on with something
// else.
func WithoutSlot(ctx context.Context, work func() error) error {
	slot, ok := ctx.Value(slotKey{}).(Slot)
	if !ok {
		return work()
	}
	slot.Release()
	err := work()
	return cmp.Or(err, slot.Reacquire(ctx))
}

package inflight_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"despacho/internal/inflight"
)

type recordedSlot struct {
	steps []string
	full  error
}

func (s *recordedSlot) Release() { s.steps = append(s.steps, "release") }

func (s *recordedSlot) Reacquire(context.Context) error {
	s.steps = append(s.steps, "reacquire")
	return s.full
}

func TestWithoutSlot(t *testing.T) {
	t.Parallel()
	slot := &recordedSlot{}
	ctx := inflight.WithSlot(t.Context(), slot)
	require.NoError(t, inflight.WithoutSlot(ctx, func() error { slot.steps = append(slot.steps, "work"); return nil }))
	require.Equal(t, []string{"release", "work", "reacquire"}, slot.steps)

	failed := errors.New("failed")
	slot.steps = nil
	require.ErrorIs(t, inflight.WithoutSlot(ctx, func() error { return failed }), failed)
	require.Equal(t, []string{"release", "reacquire"}, slot.steps)
	slot.full = errors.New("full")
	require.ErrorIs(t, inflight.WithoutSlot(ctx, func() error { return failed }), failed)
	require.ErrorIs(t, inflight.WithoutSlot(ctx, func() error { return nil }), slot.full)

	called := false
	require.NoError(t, inflight.WithoutSlot(t.Context(), func() error { called = true; return nil }))
	require.True(t, called, "without a slot there is nothing to give back")
}

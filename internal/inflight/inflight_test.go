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

func (s *recordedSlot) Leave() { s.steps = append(s.steps, "leave") }

func (s *recordedSlot) Return(context.Context) error {
	s.steps = append(s.steps, "return")
	return s.full
}

func TestOutside(t *testing.T) {
	t.Parallel()
	slot := &recordedSlot{}
	ctx := inflight.With(t.Context(), slot)
	require.NoError(t, inflight.Outside(ctx, func() error { slot.steps = append(slot.steps, "work"); return nil }))
	require.Equal(t, []string{"leave", "work", "return"}, slot.steps)

	failed := errors.New("failed")
	slot.steps = nil
	require.ErrorIs(t, inflight.Outside(ctx, func() error { return failed }), failed)
	require.Equal(t, []string{"leave", "return"}, slot.steps)
	slot.full = errors.New("full")
	require.ErrorIs(t, inflight.Outside(ctx, func() error { return failed }), failed)
	require.ErrorIs(t, inflight.Outside(ctx, func() error { return nil }), slot.full)

	called := false
	require.NoError(t, inflight.Outside(t.Context(), func() error { called = true; return nil }))
	require.True(t, called, "without a slot there is nothing to give back")
}

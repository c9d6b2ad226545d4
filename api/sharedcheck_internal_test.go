package api

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"despacho/internal/clock"
)

// All who ask in a moment get the outcome of one run, whoever began it and left; who waits for a
// run that does not end waits no longer than the request may.
func TestSharedCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := clock.NewManual(time.Date(2026, time.April, 20, 15, 0, 0, 0, time.UTC))
		away := errors.New("away")
		runs, end := 0, make(chan error)
		check := &sharedCheck{clock: now, log: slog.New(slog.DiscardHandler), timeout: time.Hour, check: func(ctx context.Context) error {
			runs++
			outcome := <-end
			return errors.Join(outcome, ctx.Err())
		}}
		askAndEnd := func(outcome error) {
			var all sync.WaitGroup
			ctx, leave := context.WithCancel(t.Context())
			all.Go(func() { require.ErrorIs(t, check.outcome(ctx), context.Canceled) })
			synctest.Wait()
			for range 10 {
				all.Go(func() { require.ErrorIs(t, check.outcome(t.Context()), outcome) })
			}
			now.Advance(time.Minute) // a run that is under way is of this moment
			synctest.Wait()
			leave()
			synctest.Wait()
			end <- outcome
			all.Wait()
		}
		askAndEnd(nil)
		askAndEnd(away)
		require.Equal(t, 2, runs)
		for _, step := range []time.Duration{outcomeUsedFor, -time.Minute} {
			now.Advance(step)
			go func() { end <- away }()
			require.ErrorIs(t, check.outcome(t.Context()), away)
			now.Advance(outcomeUsedFor - time.Microsecond)
			require.ErrorIs(t, check.outcome(t.Context()), away)
		}
		require.Equal(t, 4, runs)
	})
}

package api

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/models"
)

// However many requests a key makes, one use a minute is to be stored; one that finds no place is
// noted again.
func TestKeyUseLog_oneAMinute(t *testing.T) {
	t.Parallel()
	log, now := newKeyUseLog(), time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC)
	first, second := &models.APIKey{ID: uuid.New()}, &models.APIKey{ID: uuid.New()}
	for i := range 100 {
		log.note(first, "198.51.100.7", now.Add(time.Duration(i)*time.Millisecond))
	}
	log.note(second, "198.51.100.8", now)
	require.Len(t, log.pending, 2)
	require.Equal(t, keyUse{KeyID: first.ID, At: now, From: "198.51.100.7"}, <-log.pending)
	require.Equal(t, keyUse{KeyID: second.ID, At: now, From: "198.51.100.8"}, <-log.pending)

	stored := now.Add(30 * time.Second)
	first.LastUsedAt = &stored // by another process
	later := now.Add(time.Minute)
	log.note(first, "198.51.100.7", later)
	require.Empty(t, log.pending, "less than a minute after the stored use")
	log.note(first, "198.51.100.9", stored.Add(time.Minute))
	require.Equal(t, keyUse{KeyID: first.ID, At: stored.Add(time.Minute), From: "198.51.100.9"}, <-log.pending)

	for range maxPendingKeyUses {
		log.note(&models.APIKey{ID: uuid.New()}, "198.51.100.7", later)
	}
	log.note(second, "198.51.100.8", later)
	require.Len(t, log.pending, maxPendingKeyUses)
	<-log.pending
	log.note(second, "198.51.100.8", later)
	require.Len(t, log.pending, maxPendingKeyUses, "there is room again")
}

// Uses are stored together, and those that are left when the process stops as well.
func TestKeyUseLog_storesTheLastUses(t *testing.T) {
	t.Parallel()
	uses, now := newKeyUseLog(), time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC)
	first, second := &models.APIKey{ID: uuid.New()}, &models.APIKey{ID: uuid.New()}
	uses.note(first, "198.51.100.7", now)
	uses.note(second, "198.51.100.8", now)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	var stored [][]keyUse
	uses.run(stopped, func(ctx context.Context, uses []keyUse) error {
		stored = append(stored, uses)
		return ctx.Err()
	}, slog.New(slog.DiscardHandler))
	require.Equal(t, [][]keyUse{{{KeyID: first.ID, At: now, From: "198.51.100.7"}, {KeyID: second.ID, At: now, From: "198.51.100.8"}}}, stored)
}

// A panic while uses are stored ends neither the process nor the storing of those that follow.
func TestKeyUseLog_panic(t *testing.T) {
	t.Parallel()
	uses, now := newKeyUseLog(), time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC)
	later := &models.APIKey{ID: uuid.New()}
	uses.note(&models.APIKey{ID: uuid.New()}, "198.51.100.7", now)
	running, stop := context.WithCancel(t.Context())
	var stored []keyUse
	panicked := false
	uses.run(running, func(_ context.Context, some []keyUse) error {
		if !panicked {
			panicked = true
			uses.note(later, "198.51.100.8", now)
			panic("defect")
		}
		stored = some
		stop()
		return nil
	}, slog.New(slog.DiscardHandler))
	require.Equal(t, []keyUse{{KeyID: later.ID, At: now, From: "198.51.100.8"}}, stored)
}

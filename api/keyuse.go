package api

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/internal/db"
	"despacho/internal/recovered"
	"despacho/models"
)

const (
	// keyUseInterval is the shortest time between two stored uses of a key.
	keyUseInterval = time.Minute
	// keyUseDelay is how long uses are collected before they are stored, keyUseTimeout how long
	// storing them may take.
	keyUseDelay, keyUseTimeout = time.Second, 5 * time.Second
	// maxPendingKeyUses bounds the uses that wait to be stored. One that finds no place is dropped; a
	// later request of the key is noted again.
	maxPendingKeyUses = 1024
)

// keyUse is when and from where a key was used.
type keyUse struct {
	KeyID uuid.UUID
	At    time.Time
	From  string
}

// keyUseLog stores when and from where keys were last used, beside the requests: a request only
// notes its use in memory, and not more than once a minute for each key.
type keyUseLog struct {
	mu sync.Mutex
	// noted holds the keys that were noted in this clock minute.
	noted  map[uuid.UUID]bool
	minute int64
	// pending are the uses to be stored.
	pending chan keyUse
}

func newKeyUseLog() *keyUseLog {
	return &keyUseLog{noted: map[uuid.UUID]bool{}, pending: make(chan keyUse, maxPendingKeyUses)}
}

// note notes the use of a key, unless one within the last minute is known.
func (l *keyUseLog) note(key *models.APIKey, from string, now time.Time) {
	if key.LastUsedAt != nil && now.Sub(*key.LastUsedAt) < keyUseInterval {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := db.Minute(now); minute != l.minute {
		l.minute = minute
		clear(l.noted)
	}
	if l.noted[key.ID] {
		return
	}
	select {
	case l.pending <- keyUse{KeyID: key.ID, At: now, From: from}:
		l.noted[key.ID] = true
	default:
	}
}

// run stores noted uses, those of a second together: with many keys a statement for each would take
// more of the database than their requests. It ends with ctx, after it has stored the last ones.
func (l *keyUseLog) run(ctx context.Context, save func(context.Context, []keyUse) error, log *slog.Logger) {
	tick := time.NewTicker(keyUseDelay)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
		}
		var uses []keyUse
		for range len(l.pending) { // nobody else receives
			uses = append(uses, <-l.pending)
		}
		if len(uses) == 0 {
			continue
		}
		saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyUseTimeout)
		if err := recovered.Call(saving, log, func() error { return save(saving, uses) }); err != nil {
			log.WarnContext(ctx, "uses of keys not stored", "keys", len(uses), "error", err)
		}
		cancel()
	}
}

// RecordKeyUse stores when and from where keys were last used, until ctx ends.
func (s *Server) RecordKeyUse(ctx context.Context) {
	s.keyUse.run(ctx, func(ctx context.Context, uses []keyUse) error { return saveKeyUses(ctx, s.db, uses) }, s.log)
}

// saveKeyUses stores uses of keys, except where one less than the interval before is stored
// already, by any process. Rows are written in the sequence of their ids, so that the transactions
// of several processes do not deadlock.
func saveKeyUses(ctx context.Context, database *db.DB, uses []keyUse) error {
	slices.SortFunc(uses, func(a, b keyUse) int { return bytes.Compare(a.KeyID[:], b.KeyID[:]) })
	return database.InPipeline(ctx, func(tx *db.DB) error {
		for _, use := range uses {
			err := tx.Query(ctx).Model(&models.APIKey{}).
				Where("id = ? AND (last_used_at IS NULL OR last_used_at <= ?)", use.KeyID, use.At.Add(-keyUseInterval)).
				Updates(map[string]any{"last_used_at": use.At, "last_used_from": use.From}).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}

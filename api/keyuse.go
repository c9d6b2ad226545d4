package api

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/models"
)

const (
	// keyUseInterval is the shortest time between two stored uses of a key.
	keyUseInterval = time.Minute
	// maxPendingKeyUses bounds the uses that wait to be stored. One that finds no place is dropped; a
	// later request of the key is noted again.
	maxPendingKeyUses = 1024
)

// keyUseLog stores when and from where keys were last used, beside the requests: a request only
// notes its use in memory, and not more than once a minute for each key.
type keyUseLog struct {
	mu sync.Mutex
	// noted holds the keys that were noted in this clock minute.
	noted  map[uuid.UUID]bool
	minute int64
	// pending are the uses to be stored.
	pending chan db.KeyUse
}

func newKeyUseLog() *keyUseLog {
	return &keyUseLog{noted: map[uuid.UUID]bool{}, pending: make(chan db.KeyUse, maxPendingKeyUses)}
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
	case l.pending <- db.KeyUse{KeyID: key.ID, At: now, From: from}:
		l.noted[key.ID] = true
	default:
	}
}

// run stores noted uses until ctx ends. Those that were noted meanwhile are stored together: with
// many keys a statement for each would take more of the database than their requests.
func (l *keyUseLog) run(ctx context.Context, database *db.DB, log *slog.Logger) {
	for {
		select {
		case first := <-l.pending:
			uses := []db.KeyUse{first}
			for range len(l.pending) { // run alone receives
				uses = append(uses, <-l.pending)
			}
			if err := database.SaveKeyUses(ctx, uses, keyUseInterval); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "uses of keys not stored", "keys", len(uses), "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// RecordKeyUse stores when and from where keys were last used, until ctx ends.
func (s *Server) RecordKeyUse(ctx context.Context) { s.keyUse.run(ctx, s.db, s.log) }

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
	pending chan keyUse
}

type keyUse struct {
	key  uuid.UUID
	at   time.Time
	from string
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
	case l.pending <- keyUse{key.ID, now, from}:
		l.noted[key.ID] = true
	default:
	}
}

// run stores noted uses until ctx ends.
func (l *keyUseLog) run(ctx context.Context, database *db.DB, log *slog.Logger) {
	for {
		select {
		case use := <-l.pending:
			if err := database.SaveKeyUse(ctx, use.key, use.at, use.from, use.at.Add(-keyUseInterval)); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "use of a key not stored", "key_id", use.key, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// RecordKeyUse stores when and from where keys were last used, until ctx ends.
func (s *Server) RecordKeyUse(ctx context.Context) { s.keyUse.run(ctx, s.db, s.log) }

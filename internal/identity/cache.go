package identity

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"despacho/internal/clock"
)

const (
	// FoundFor is how long a found answer is remembered.
	FoundFor = 30 * 24 * time.Hour
	// NotFoundFor is how long a not_found answer is remembered: providers learn of new DNIs late.
	NotFoundFor = 24 * time.Hour

	keyPurpose = "despacho identity cache v1"
)

// Cache remembers answers under keys that do not tell the DNI.
type Cache interface {
	// Get returns the answer put under a key, unless its time is over.
	Get(ctx context.Context, key string) (Answer, bool, error)
	// Put keeps an answer until a moment, in place of any other under the key.
	Put(ctx context.Context, key string, answer Answer, until time.Time) error
}

// memory is a Cache by DNI. Its troubles are logged and otherwise cost one more question to a
// provider.
type memory struct {
	cache  Cache
	secret []byte
	clock  clock.Clock
	logger *slog.Logger
}

func newMemory(options Options) (*memory, error) {
	if options.Cache == nil {
		return &memory{}, nil
	}
	if options.CacheSecret == "" {
		return nil, errors.New("identity: a cache needs a secret for its keys")
	}
	secret, err := hkdf.Key(sha256.New, []byte(options.CacheSecret), nil, keyPurpose, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("identity: derive the cache's secret: %w", err)
	}
	return &memory{cache: options.Cache, secret: secret, clock: options.Clock, logger: options.Logger}, nil
}

func (m *memory) recall(ctx context.Context, dni string) (Answer, bool) {
	if m.cache == nil {
		return Answer{}, false
	}
	answer, found, err := m.cache.Get(ctx, m.key(dni))
	if err != nil {
		m.logger.WarnContext(ctx, "identity cache cannot be read", "error", err)
		return Answer{}, false
	}
	return answer, found && lifetime(answer.Outcome) > 0
}

func (m *memory) remember(ctx context.Context, dni string, answer Answer) {
	lasts := lifetime(answer.Outcome)
	if m.cache == nil || lasts == 0 {
		return
	}
	if err := m.cache.Put(ctx, m.key(dni), answer, m.clock.Now().Add(lasts)); err != nil {
		m.logger.WarnContext(ctx, "identity cache cannot be written", "error", err)
	}
}

// lifetime is how long an outcome is worth remembering; what says nothing about the DNI is not.
func lifetime(outcome Outcome) time.Duration {
	switch outcome {
	case Found:
		return FoundFor
	case NotFound:
		return NotFoundFor
	default:
		return 0
	}
}

// key is the DNI's keyed hash: there are so few DNIs that a bare one would be looked up in no time.
func (m *memory) key(dni string) string {
	hash := hmac.New(sha256.New, m.secret)
	hash.Write([]byte(dni))
	return hex.EncodeToString(hash.Sum(nil))
}

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
	// foundTTL is how long a Found answer is cached.
	foundTTL = 30 * 24 * time.Hour
	// notFoundTTL is how long a NotFound answer is cached: providers learn of new DNIs late.
	notFoundTTL = 24 * time.Hour

	keyPurpose = "despacho identity cache v1"
)

// Cache stores answers under keys that do not reveal the DNI.
type Cache interface {
	// Get returns the answer stored under a key, unless it has expired.
	Get(ctx context.Context, key string) (Answer, bool, error)
	// Put stores an answer until it expires, replacing any other under the key.
	Put(ctx context.Context, key string, answer Answer, until time.Time) error
	// Delete removes the answer stored under a key, if there is one.
	Delete(ctx context.Context, key string) error
}

// answerCache caches answers by DNI. Its errors are logged; they only cost another request to a
// provider.
type answerCache struct {
	cache  Cache
	secret []byte
	clock  clock.Clock
	logger *slog.Logger
}

func newAnswerCache(options Options) (*answerCache, error) {
	if options.Cache == nil {
		return &answerCache{}, nil
	}
	if options.CacheSecret == "" {
		return nil, errors.New("identity: a cache needs a secret for its keys")
	}
	secret, err := hkdf.Key(sha256.New, []byte(options.CacheSecret), nil, keyPurpose, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("identity: derive the cache's secret: %w", err)
	}
	return &answerCache{cache: options.Cache, secret: secret, clock: options.Clock, logger: options.Logger}, nil
}

func (c *answerCache) get(ctx context.Context, dni string) (Answer, bool) {
	if c.cache == nil {
		return Answer{}, false
	}
	answer, found, err := c.cache.Get(ctx, c.key(dni))
	if err != nil {
		c.logger.WarnContext(ctx, "identity cache cannot be read", "error", err)
		return Answer{}, false
	}
	return answer, found && ttl(answer.Outcome) > 0
}

func (c *answerCache) put(ctx context.Context, dni string, answer Answer) {
	lasts := ttl(answer.Outcome)
	if c.cache == nil || lasts == 0 {
		return
	}
	if err := c.cache.Put(ctx, c.key(dni), answer, c.clock.Now().Add(lasts)); err != nil {
		c.logger.WarnContext(ctx, "identity cache cannot be written", "error", err)
	}
}

// remove returns its error: the answer must not stay.
func (c *answerCache) remove(ctx context.Context, dni string) error {
	if c.cache == nil {
		return nil
	}
	return c.cache.Delete(ctx, c.key(dni))
}

// ttl is how long an outcome is cached; zero for outcomes that say nothing about the DNI.
func ttl(outcome Outcome) time.Duration {
	switch outcome {
	case Found:
		return foundTTL
	case NotFound:
		return notFoundTTL
	default:
		return 0
	}
}

// key is the DNI's HMAC: there are so few DNIs that a plain hash could be reversed by trying all of
// them.
func (c *answerCache) key(dni string) string {
	hash := hmac.New(sha256.New, c.secret)
	hash.Write([]byte(dni))
	return hex.EncodeToString(hash.Sum(nil))
}

package activities

import (
	"context"
	"time"

	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/identity"
	"despacho/models"
)

// IdentityCache caches providers' answers in the database, with encrypted names.
type IdentityCache struct {
	DB      *db.DB
	Secrets *encryption.Cipher
	Now     func() time.Time
}

// Get reads an unexpired answer.
func (c *IdentityCache) Get(ctx context.Context, key string) (identity.Answer, bool, error) {
	kept, err := c.DB.IdentityAnswer(ctx, key, c.Now())
	if db.IsNotFound(err) {
		return identity.Answer{}, false, nil
	}
	if err != nil {
		return identity.Answer{}, false, err
	}
	name, err := c.Secrets.Open(kept.Name, []byte(key))
	if err != nil {
		return identity.Answer{}, false, err
	}
	return identity.Answer{Outcome: identity.Outcome(kept.Outcome), Name: string(name), Provider: kept.Provider}, true, nil
}

// Put stores an answer until it expires.
func (c *IdentityCache) Put(ctx context.Context, key string, answer identity.Answer, until time.Time) error {
	return c.DB.SaveIdentityAnswer(ctx, &models.IdentityAnswer{
		Key: key, Outcome: string(answer.Outcome), Name: c.Secrets.Seal([]byte(answer.Name), []byte(key)), Provider: answer.Provider, ExpiresAt: until,
	})
}

// Delete removes an answer.
func (c *IdentityCache) Delete(ctx context.Context, key string) error {
	return c.DB.DeleteIdentityAnswer(ctx, key)
}

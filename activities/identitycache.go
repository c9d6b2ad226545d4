package activities

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

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
	var kept models.IdentityAnswer
	err := c.DB.Query(ctx).Where("key = ? AND expires_at > ?", key, c.Now()).Take(&kept).Error
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
	return c.DB.Query(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&models.IdentityAnswer{
		Key: key, Outcome: string(answer.Outcome), Name: c.Secrets.Seal([]byte(answer.Name), []byte(key)),
		Provider: answer.Provider, ExpiresAt: until,
	}).Error
}

// Delete removes an answer.
func (c *IdentityCache) Delete(ctx context.Context, key string) error {
	return c.DB.Query(ctx).Where("key = ?", key).Delete(&models.IdentityAnswer{}).Error
}

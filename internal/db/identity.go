package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"despacho/models"
)

// IdentityAnswer reads a cached answer that has not expired.
func (d *DB) IdentityAnswer(ctx context.Context, key string, now time.Time) (*models.IdentityAnswer, error) {
	var answer models.IdentityAnswer
	err := d.with(ctx).Where("key = ? AND expires_at > ?", key, now).Take(&answer).Error
	return &answer, err
}

// SaveIdentityAnswer inserts or replaces a cached answer.
func (d *DB) SaveIdentityAnswer(ctx context.Context, answer *models.IdentityAnswer) error {
	return d.with(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(answer).Error
}

// DeleteIdentityAnswer deletes a cached answer, if there is one.
func (d *DB) DeleteIdentityAnswer(ctx context.Context, key string) error {
	return d.with(ctx).Where("key = ?", key).Delete(&models.IdentityAnswer{}).Error
}

// SetIdentity writes the outcome of the recipient's document check. If the document was erased
// meanwhile, nothing is written, and set is false.
func (d *DB) SetIdentity(ctx context.Context, orderID uuid.UUID, outcome string, nameMatches *bool, verified bool, now time.Time) (set bool, err error) {
	result := d.with(ctx).Model(&models.Order{}).
		Where("id = ? AND recipient_doc_encrypted IS NOT NULL", orderID).
		Updates(map[string]any{"doc_outcome": outcome, "doc_name_matches": nameMatches, "recipient_doc_verified": verified, "updated_at": now})
	return result.RowsAffected == 1, result.Error
}

package db

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/models"
)

// StartPasswordReset stores a reset in place of the user's earlier one, removes the password and
// deletes the user's sessions.
func (d *DB) StartPasswordReset(ctx context.Context, reset *models.PasswordReset) error {
	return d.InTx(ctx, func(tx *DB) error {
		// No password has an empty hash.
		if err := tx.SetPassword(ctx, reset.UserID, ""); err != nil {
			return err
		}
		return tx.with(ctx).Create(reset).Error
	})
}

// PasswordResetUser finds the active user of an unexpired reset.
func (d *DB) PasswordResetUser(ctx context.Context, tokenHash []byte, now time.Time) (*models.User, error) {
	var user models.User
	err := d.with(ctx).Joins("JOIN password_resets r ON r.user_id = users.id").
		Where("r.token_hash = ? AND r.expires_at > ? AND users.active", tokenHash, now).Take(&user).Error
	return &user, err
}

// FinishPasswordReset uses a reset: the user has the password from now on. It returns ErrNotFound
// if the reset was used, replaced or expired since it was read.
func (d *DB) FinishPasswordReset(ctx context.Context, userID uuid.UUID, tokenHash []byte, passwordHash string, now time.Time) error {
	return d.InTx(ctx, func(tx *DB) error {
		// The user's row is locked first, as StartPasswordReset does.
		if err := tx.forUpdate(ctx).Select("id").Where("id = ?", userID).Take(&models.User{}).Error; err != nil {
			return err
		}
		err := requireOneRow(tx.with(ctx).Where("user_id = ? AND token_hash = ? AND expires_at > ?", userID, tokenHash, now).Delete(&models.PasswordReset{}))
		if err != nil {
			return err
		}
		return tx.SetPassword(ctx, userID, passwordHash)
	})
}

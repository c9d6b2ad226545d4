package db

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/models"
)

// StartSecondFactor stores the encrypted secret of a second factor that is not confirmed yet. It
// returns ErrNotFound for a user who has a second factor already.
func (d *DB) StartSecondFactor(ctx context.Context, userID uuid.UUID, secret []byte) error {
	return requireOneRow(d.with(ctx).Model(&models.User{}).Where("id = ? AND totp_confirmed_at IS NULL", userID).
		Updates(map[string]any{"totp_secret": secret, "totp_last_step": 0}))
}

// ConfirmSecondFactor makes the stored secret the user's second factor from now on, with its
// recovery codes, and deletes the user's sessions except the one in keep: they were opened without
// it. It returns ErrNotFound if the secret is no longer the stored one or counts already.
func (d *DB) ConfirmSecondFactor(ctx context.Context, user *models.User, step int64, now time.Time, codeHashes [][]byte, keep uuid.UUID) error {
	return d.InTx(ctx, func(tx *DB) error {
		err := requireOneRow(tx.with(ctx).Model(&models.User{}).
			Where("id = ? AND totp_confirmed_at IS NULL AND totp_secret = ?", user.ID, user.TOTPSecret).
			Updates(map[string]any{"totp_confirmed_at": now, "totp_last_step": step}))
		if err != nil {
			return err
		}
		codes := make([]models.RecoveryCode, len(codeHashes))
		for i, hash := range codeHashes {
			codes[i] = models.RecoveryCode{UserID: user.ID, Hash: hash}
		}
		if err := tx.with(ctx).Create(&codes).Error; err != nil {
			return err
		}
		return tx.DeleteSessionsOf(ctx, user.ID, keep)
	})
}

// RemoveSecondFactor removes a user's second factor and its recovery codes.
func (d *DB) RemoveSecondFactor(ctx context.Context, userID uuid.UUID) error {
	return d.InTx(ctx, func(tx *DB) error {
		err := requireOneRow(tx.with(ctx).Model(&models.User{}).Where("id = ?", userID).
			Updates(map[string]any{"totp_secret": nil, "totp_confirmed_at": nil, "totp_last_step": 0}))
		if err != nil {
			return err
		}
		return tx.with(ctx).Where("user_id = ?", userID).Delete(&models.RecoveryCode{}).Error
	})
}

// UseStep records that a code of the time step was used. It returns ErrNotFound if a code of this
// or a later step was used before.
func (d *DB) UseStep(ctx context.Context, userID uuid.UUID, step int64) error {
	return requireOneRow(d.with(ctx).Model(&models.User{}).Where("id = ? AND totp_last_step < ?", userID, step).Update("totp_last_step", step))
}

// UseRecoveryCode deletes a recovery code. It returns ErrNotFound if the user has no such code.
func (d *DB) UseRecoveryCode(ctx context.Context, userID uuid.UUID, hash []byte) error {
	return requireOneRow(d.with(ctx).Where("user_id = ? AND hash = ?", userID, hash).Delete(&models.RecoveryCode{}))
}

// CountRecoveryCodes counts the recovery codes that a user has left.
func (d *DB) CountRecoveryCodes(ctx context.Context, userID uuid.UUID) (int64, error) {
	var count int64
	err := d.with(ctx).Model(&models.RecoveryCode{}).Where("user_id = ?", userID).Count(&count).Error
	return count, err
}

// UsersWithSecondFactor lists the users with a second factor, confirmed or not.
func (d *DB) UsersWithSecondFactor(ctx context.Context) ([]models.User, error) {
	var users []models.User
	err := d.with(ctx).Where("totp_secret IS NOT NULL").Order("id").Find(&users).Error
	return users, err
}

// ReplaceSecondFactorSecret replaces the encrypted secret of a second factor, unless it was changed
// since it was read.
func (d *DB) ReplaceSecondFactorSecret(ctx context.Context, userID uuid.UUID, before, after []byte) (replaced bool, err error) {
	result := d.with(ctx).Model(&models.User{}).Where("id = ? AND totp_secret = ?", userID, before).Update("totp_secret", after)
	return result.RowsAffected == 1, result.Error
}

package db

import (
	"context"

	"github.com/google/uuid"

	"despacho/models"
)

// UserByEmail finds a panel user by e-mail address.
func (d *DB) UserByEmail(ctx context.Context, email string) (*models.User, error) {
	var user models.User
	err := d.with(ctx).Where("email = ?", email).Take(&user).Error
	return &user, err
}

// SetPassword changes a user's password and deletes the user's sessions, except those in keep, and
// the user's reset, if there is one.
func (d *DB) SetPassword(ctx context.Context, userID uuid.UUID, hash string, keep ...uuid.UUID) error {
	return d.InTx(ctx, func(tx *DB) error {
		// The update comes first because it locks the user's row: a concurrent InsertSession either
		// commits before and its session is deleted, or fails.
		if err := requireOneRow(tx.with(ctx).Model(&models.User{}).Where("id = ?", userID).Update("password_hash", hash)); err != nil {
			return err
		}
		if err := tx.with(ctx).Where("user_id = ?", userID).Delete(&models.PasswordReset{}).Error; err != nil {
			return err
		}
		return tx.DeleteSessionsOf(ctx, userID, keep...)
	})
}

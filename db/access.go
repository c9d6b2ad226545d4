package db

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// InsertAPIKey stores a new key.
func (d *DB) InsertAPIKey(ctx context.Context, key *models.APIKey) error {
	return d.with(ctx).Create(key).Error
}

// RevokeAPIKey revokes a key. It returns ErrNotFound for another operator's key or one already
// revoked.
func (d *DB) RevokeAPIKey(ctx context.Context, operatorID, keyID uuid.UUID, now time.Time) error {
	return requireOneRow(d.with(ctx).Model(&models.APIKey{}).
		Where("id = ? AND operator_id = ? AND revoked_at IS NULL", keyID, operatorID).
		Update("revoked_at", now))
}

// UserByEmail finds a panel user by e-mail address.
func (d *DB) UserByEmail(ctx context.Context, email string) (*models.User, error) {
	var user models.User
	err := d.with(ctx).Where("email = ?", email).Take(&user).Error
	return &user, err
}

// InsertUser stores a new panel user.
func (d *DB) InsertUser(ctx context.Context, user *models.User) error {
	return d.with(ctx).Create(user).Error
}

// InsertSession stores a new session. It returns ErrNotFound if the user was deactivated or the
// password changed since it was checked, so that no session outlives either.
func (d *DB) InsertSession(ctx context.Context, session *models.Session, passwordHash string) error {
	return d.InTx(ctx, func(tx *DB) error {
		var user models.User
		err := tx.forUpdate(ctx).Select("id").Where("id = ? AND active AND password_hash = ?", session.UserID, passwordHash).Take(&user).Error
		if err != nil {
			return err
		}
		return tx.with(ctx).Create(session).Error
	})
}

// SignedIn is a session's user and operator.
type SignedIn struct {
	SessionID uuid.UUID
	User      models.User     `gorm:"embedded;embeddedPrefix:user_"`
	Operator  models.Operator `gorm:"embedded;embeddedPrefix:op_"`
}

// The password's hash is read only to check a password.
var sessionUserColumns = tableColumns[models.User]("u", "user_", "password_hash")

// SessionByToken finds the user and the operator of an unexpired session.
func (d *DB) SessionByToken(ctx context.Context, tokenHash []byte, now time.Time) (*SignedIn, error) {
	var signedIn SignedIn
	result := d.with(ctx).Raw(`
		SELECT s.id AS session_id, `+columnList(sessionUserColumns)+", "+columnList(operatorColumns)+`
		FROM sessions s JOIN users u ON u.id = s.user_id JOIN operators o ON o.id = u.operator_id
		WHERE s.token_hash = ? AND s.expires_at > ? AND u.active`, tokenHash, now).Scan(&signedIn)
	if result.Error != nil {
		return nil, result.Error
	}
	if result.RowsAffected == 0 {
		return nil, ErrNotFound
	}
	return &signedIn, nil
}

// DeleteSession ends a session.
func (d *DB) DeleteSession(ctx context.Context, id uuid.UUID) error {
	return d.with(ctx).Where("id = ?", id).Delete(&models.Session{}).Error
}

// requireOneRow turns an update that matched no row into ErrNotFound.
func requireOneRow(result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return ErrNotFound
	}
	return result.Error
}

// IsNotFound reports whether err says that no row matched.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// SetPassword changes a user's password and deletes the user's sessions, except those in keep.
func (d *DB) SetPassword(ctx context.Context, userID uuid.UUID, hash string, keep ...uuid.UUID) error {
	return d.InTx(ctx, func(tx *DB) error {
		// The update comes first because it locks the user's row: a concurrent InsertSession either
		// commits before and its session is deleted, or fails.
		if err := requireOneRow(tx.with(ctx).Model(&models.User{}).Where("id = ?", userID).Update("password_hash", hash)); err != nil {
			return err
		}
		return tx.DeleteSessionsOf(ctx, userID, keep...)
	})
}

// DeleteSessionsOf deletes a user's sessions, except those in keep.
func (d *DB) DeleteSessionsOf(ctx context.Context, userID uuid.UUID, keep ...uuid.UUID) error {
	query := d.with(ctx).Where("user_id = ?", userID)
	if len(keep) > 0 {
		query = query.Where("id NOT IN ?", keep)
	}
	return query.Delete(&models.Session{}).Error
}

// RevokeAllKeys revokes every key of an operator.
func (d *DB) RevokeAllKeys(ctx context.Context, operatorID uuid.UUID, now time.Time) error {
	return d.with(ctx).Model(&models.APIKey{}).Where("operator_id = ? AND revoked_at IS NULL", operatorID).
		Update("revoked_at", now).Error
}

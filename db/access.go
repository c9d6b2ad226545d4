package db

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/models"
)

// KeyHolder is an API key with the operator it belongs to, and how many requests it has made this minute.
type KeyHolder struct {
	Key      models.APIKey   `gorm:"embedded;embeddedPrefix:key_"`
	Operator models.Operator `gorm:"embedded;embeddedPrefix:op_"`
	Used     int
}

const keyHolderColumns = `
	k.id AS key_id, k.operator_id AS key_operator_id, k.store_id AS key_store_id, k.name AS key_name,
	k.scopes AS key_scopes, k.expires_at AS key_expires_at, k.revoked_at AS key_revoked_at,
` + operatorColumns

const operatorColumns = `
	o.id AS op_id, o.name AS op_name, o.country_code AS op_country_code, o.timezone AS op_timezone,
	o.currency AS op_currency, o.plan AS op_plan, o.suspended_at AS op_suspended_at,
	o.base_price_cents AS op_base_price_cents, o.share_proof_location AS op_share_proof_location,
	o.logo_url AS op_logo_url, o.settings_version AS op_settings_version`

// A request counts only if the key opens something: an expired key or a plan without the API uses up nothing.
const authenticateAndCount = `
WITH holder AS (
	SELECT` + keyHolderColumns + `
	FROM api_keys k JOIN operators o ON o.id = k.operator_id
	WHERE k.hash = @hash
), counted AS (
	INSERT INTO rate_windows (subject, minute, used)
	SELECT key_id::text, @minute, 1 FROM holder
	WHERE key_revoked_at IS NULL AND (key_expires_at IS NULL OR key_expires_at > @now)
		AND op_suspended_at IS NULL AND op_plan IN @plans
	ON CONFLICT (subject, minute) DO UPDATE SET used = rate_windows.used + 1
	RETURNING used
)
SELECT holder.*, COALESCE((SELECT used FROM counted), 0) AS used FROM holder`

// Authenticate finds the key with the given hash and counts the request, in one round trip to PostgreSQL.
func (d *DB) Authenticate(ctx context.Context, hash []byte, now time.Time) (*KeyHolder, error) {
	if d.dialect == SQLite {
		return d.authenticateSQLite(ctx, hash, now)
	}
	var holder KeyHolder
	result := d.with(ctx).Raw(authenticateAndCount, map[string]any{
		"hash": hash, "minute": Minute(now), "now": now, "plans": plansWithAPI,
	}).Scan(&holder)
	if result.Error != nil {
		return nil, result.Error
	}
	if result.RowsAffected == 0 {
		return nil, ErrNotFound
	}
	return &holder, nil
}

// SQLite has no data-changing WITH; a second statement costs it no round trip.
func (d *DB) authenticateSQLite(ctx context.Context, hash []byte, now time.Time) (*KeyHolder, error) {
	var holder KeyHolder
	result := d.with(ctx).Raw(`SELECT`+keyHolderColumns+`
		FROM api_keys k JOIN operators o ON o.id = k.operator_id WHERE k.hash = ?`, hash).Scan(&holder)
	if result.Error != nil {
		return nil, result.Error
	}
	if result.RowsAffected == 0 {
		return nil, ErrNotFound
	}
	if !holder.Key.Usable(now) || holder.Operator.Suspended() || holder.Operator.Plan.RequestsPerMinute() == 0 {
		return &holder, nil
	}
	used, err := d.CountRequest(ctx, holder.Key.ID.String(), now)
	holder.Used = used
	return &holder, err
}

// CountRequest counts one request of a subject in the current clock minute and returns how many there were.
func (d *DB) CountRequest(ctx context.Context, subject string, now time.Time) (int, error) {
	var used int
	err := d.with(ctx).Raw(`INSERT INTO rate_windows (subject, minute, used) VALUES (?, ?, 1)
		ON CONFLICT (subject, minute) DO UPDATE SET used = rate_windows.used + 1 RETURNING used`,
		subject, Minute(now)).Scan(&used).Error
	return used, err
}

// Minute is the clock minute that a time belongs to.
func Minute(t time.Time) int64 { return t.Unix() / 60 }

var plansWithAPI = func() []string {
	var plans []string
	for _, plan := range models.Plans {
		if plan.RequestsPerMinute() > 0 {
			plans = append(plans, string(plan))
		}
	}
	return plans
}()

// InsertAPIKey stores a new key.
func (d *DB) InsertAPIKey(ctx context.Context, key *models.APIKey) error {
	return d.with(ctx).Create(key).Error
}

// RevokeAPIKey ends a key at once. It returns ErrNotFound for another operator's key or one already revoked.
func (d *DB) RevokeAPIKey(ctx context.Context, operatorID, keyID uuid.UUID, now time.Time) error {
	return oneRow(d.with(ctx).Model(&models.APIKey{}).
		Where("id = ? AND operator_id = ? AND revoked_at IS NULL", keyID, operatorID).
		Update("revoked_at", now))
}

// UserByEmail finds a panel user with the operator it belongs to.
func (d *DB) UserByEmail(ctx context.Context, email string) (*models.User, error) {
	var user models.User
	err := d.with(ctx).Where("email = ?", email).Take(&user).Error
	return &user, err
}

// InsertUser stores a new panel user.
func (d *DB) InsertUser(ctx context.Context, user *models.User) error {
	return d.with(ctx).Create(user).Error
}

// InsertSession stores the session of a user who has just proved to know the password. ErrNotFound if the user was deactivated or the
// password changed in the meantime: no session outlives either.
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

// SessionByToken finds the user behind a token that has not expired.
func (d *DB) SessionByToken(ctx context.Context, tokenHash []byte, now time.Time) (*SignedIn, error) {
	var signedIn SignedIn
	result := d.with(ctx).Raw(`
		SELECT s.id AS session_id, u.id AS user_id, u.operator_id AS user_operator_id, u.store_id AS user_store_id,
			u.email AS user_email, u.name AS user_name, u.role AS user_role, u.admin AS user_admin, u.active AS user_active,`+operatorColumns+`
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

// oneRow turns an update that hit nothing into ErrNotFound.
func oneRow(result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return ErrNotFound
	}
	return result.Error
}

// IsNotFound reports whether err says that no row matched.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// SetPassword changes a user's password and ends the sessions opened with the old one, but for those that are to be kept.
func (d *DB) SetPassword(ctx context.Context, userID uuid.UUID, hash string, keep ...uuid.UUID) error {
	return d.InTx(ctx, func(tx *DB) error {
		// First, because it locks the user's row: a session that is just being opened is there to be ended, or is not opened at all.
		if err := oneRow(tx.with(ctx).Model(&models.User{}).Where("id = ?", userID).Update("password_hash", hash)); err != nil {
			return err
		}
		return tx.DeleteSessionsOf(ctx, userID, keep...)
	})
}

// DeleteSessionsOf ends every session of a user, but for those that are to be kept.
func (d *DB) DeleteSessionsOf(ctx context.Context, userID uuid.UUID, keep ...uuid.UUID) error {
	query := d.with(ctx).Where("user_id = ?", userID)
	if len(keep) > 0 {
		query = query.Where("id NOT IN ?", keep)
	}
	return query.Delete(&models.Session{}).Error
}

// RevokeAllKeys ends every key of an operator at once.
func (d *DB) RevokeAllKeys(ctx context.Context, operatorID uuid.UUID, now time.Time) error {
	return d.with(ctx).Model(&models.APIKey{}).Where("operator_id = ? AND revoked_at IS NULL", operatorID).
		Update("revoked_at", now).Error
}

package operators

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

const (
	// resetDuration is how long the token of a reset may be used.
	resetDuration = 24 * time.Hour
	// maxResetToken is longer than any token.
	maxResetToken = 200
)

// PasswordReset lets a user choose a new password.
type PasswordReset struct {
	User *models.User
	// Token is part of the link for the user; only its hash is stored.
	Token     string
	ExpiresAt time.Time
}

// PasswordResetPath is the page where a user chooses a password with the token of a reset.
const PasswordResetPath = "/panel/restablecer"

// Link is the address for the user, at the service's public address.
func (r *PasswordReset) Link(baseURL string) string {
	return baseURL + PasswordResetPath + "?codigo=" + r.Token
}

// StartPasswordReset starts a reset for a colleague who forgot the password or whose password
// others know: it no longer counts, and the colleague's sessions end.
func (s *Service) StartPasswordReset(ctx context.Context, admin *db.SignedIn, id uuid.UUID) (*PasswordReset, error) {
	user, err := s.colleague(ctx, admin, id)
	if err != nil {
		return nil, err
	}
	return s.startReset(ctx, user)
}

// ResetUser is StartPasswordReset for the command line.
func (s *Service) ResetUser(ctx context.Context, email string) (*PasswordReset, error) {
	user, err := s.userByEmail(ctx, email)
	if err != nil {
		return nil, err
	}
	return s.startReset(ctx, user)
}

// ResetUserSecondFactor is ResetSecondFactor for the command line.
func (s *Service) ResetUserSecondFactor(ctx context.Context, email string) error {
	user, err := s.userByEmail(ctx, email)
	if err != nil {
		return err
	}
	return s.dropSecondFactor(ctx, user)
}

// userByEmail finds a user of any operator, for the command line.
func (s *Service) userByEmail(ctx context.Context, email string) (*models.User, error) {
	user, err := findUser(ctx, s.db, normalizeEmail(email))
	if db.IsNotFound(err) {
		return nil, fmt.Errorf("there is no user with the e-mail %s", normalizeEmail(email))
	}
	return user, err
}

func (s *Service) startReset(ctx context.Context, user *models.User) (reset *PasswordReset, err error) {
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		// No password has an empty hash. An earlier reset of the user goes with it.
		if err := storePassword(ctx, tx, user.ID, ""); err != nil {
			return err
		}
		reset, err = s.insertReset(ctx, tx, user)
		return err
	})
	return reset, err
}

// insertReset starts a reset of a user who has no password.
func (s *Service) insertReset(ctx context.Context, tx *db.DB, user *models.User) (*PasswordReset, error) {
	token, err := credentials.NewToken()
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	reset := &PasswordReset{User: user, Token: token, ExpiresAt: now.Add(resetDuration)}
	err = tx.Insert(ctx, &models.PasswordReset{
		UserID: user.ID, TokenHash: credentials.Hash(token), CreatedAt: now, ExpiresAt: reset.ExpiresAt,
	})
	if err != nil {
		return nil, err
	}
	return reset, s.audit(ctx, tx, user.OperatorID, models.AuditResetStarted, &user.ID, "")
}

// CheckPasswordReset returns an error unless the token of a reset can still be used.
func (s *Service) CheckPasswordReset(ctx context.Context, token string) error {
	_, err := s.resetUser(ctx, credentials.Hash(token), s.clock.Now())
	return rowErrors{notFound: ErrResetExpired}.replace(err)
}

// FinishPasswordReset sets the password that a user chose with the token of a reset.
func (s *Service) FinishPasswordReset(ctx context.Context, in *jsonbody.Object) error {
	token, chosen := in.RequiredSecret("token", maxResetToken), in.RequiredSecret("new", maxTypedPassword)
	if err := in.Err(); err != nil {
		return err
	}
	tokenHash, now := credentials.Hash(token), s.clock.Now()
	user, err := s.resetUser(ctx, tokenHash, now)
	if err != nil {
		return rowErrors{notFound: ErrResetExpired}.replace(err)
	}
	operator, err := s.db.Operator(ctx, user.OperatorID)
	if err != nil {
		return err
	}
	if message, err := checkPassword(chosen, user, operator); err != nil {
		in.AddError("new", message)
		return in.Err()
	}
	hash, err := s.passwords.Hash(ctx, chosen)
	if err != nil {
		return err
	}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := useReset(ctx, tx, user.ID, tokenHash, s.clock.Now()); err != nil {
			return err
		}
		if err := storePassword(ctx, tx, user.ID, hash); err != nil {
			return err
		}
		return s.auditSession(ctx, tx, user, models.AuditPasswordChanged)
	})
	return rowErrors{notFound: ErrResetExpired}.replace(err)
}

// resetUser finds the active user of an unexpired reset.
func (s *Service) resetUser(ctx context.Context, tokenHash []byte, now time.Time) (*models.User, error) {
	var user models.User
	err := s.db.Query(ctx).Joins("JOIN password_resets r ON r.user_id = users.id").
		Where("r.token_hash = ? AND r.expires_at > ? AND users.active", tokenHash, now).Take(&user).Error
	return &user, err
}

// useReset deletes a reset. It returns db.ErrNotFound if it was used, replaced or expired since it
// was read.
func useReset(ctx context.Context, tx *db.DB, userID uuid.UUID, tokenHash []byte, now time.Time) error {
	// The user's row is locked first, as by the start of a reset.
	if err := tx.QueryForUpdate(ctx).Select("id").Where("id = ?", userID).Take(&models.User{}).Error; err != nil {
		return err
	}
	return db.RequireOneRow(tx.Query(ctx).Where("user_id = ? AND token_hash = ? AND expires_at > ?", userID, tokenHash, now).
		Delete(&models.PasswordReset{}))
}

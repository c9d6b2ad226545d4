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
	user, err := s.db.UserByEmail(ctx, normalizeEmail(email))
	if db.IsNotFound(err) {
		return nil, fmt.Errorf("there is no user with the e-mail %s", normalizeEmail(email))
	}
	return user, err
}

func (s *Service) startReset(ctx context.Context, user *models.User) (*PasswordReset, error) {
	token, err := credentials.NewToken()
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	reset := &PasswordReset{User: user, Token: token, ExpiresAt: now.Add(resetDuration)}
	return reset, s.db.InTx(ctx, func(tx *db.DB) error {
		err := tx.StartPasswordReset(ctx, &models.PasswordReset{
			UserID: user.ID, TokenHash: credentials.Hash(token), CreatedAt: now, ExpiresAt: reset.ExpiresAt,
		})
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, user.OperatorID, models.AuditResetStarted, &user.ID, "")
	})
}

// CheckPasswordReset returns an error unless the token of a reset can still be used.
func (s *Service) CheckPasswordReset(ctx context.Context, token string) error {
	_, err := s.db.PasswordResetUser(ctx, credentials.Hash(token), s.clock.Now())
	return rowErrors{notFound: ErrResetExpired}.replace(err)
}

// FinishPasswordReset sets the password that a user chose with the token of a reset.
func (s *Service) FinishPasswordReset(ctx context.Context, in *jsonbody.Object) error {
	token, chosen := in.RequiredSecret("token", maxResetToken), in.RequiredSecret("new", maxTypedPassword)
	if err := in.Err(); err != nil {
		return err
	}
	tokenHash, now := credentials.Hash(token), s.clock.Now()
	user, err := s.db.PasswordResetUser(ctx, tokenHash, now)
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
	hash, err := s.hash(ctx, chosen)
	if err != nil {
		return err
	}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.FinishPasswordReset(ctx, user.ID, tokenHash, hash, s.clock.Now()); err != nil {
			return err
		}
		return s.auditSession(ctx, tx, user, models.AuditPasswordChanged)
	})
	return rowErrors{notFound: ErrResetExpired}.replace(err)
}

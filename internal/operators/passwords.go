package operators

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// ResetPassword sets a colleague's password, generated unless given, and deletes the colleague's
// sessions.
func (s *Service) ResetPassword(
	ctx context.Context, admin *db.SignedIn, id uuid.UUID, in *jsonbody.Object,
) (generated string, err error) {
	user, err := s.colleague(ctx, admin, id)
	if err != nil {
		return "", err
	}
	password, generated := readNewPassword(in)
	if message, err := checkPassword(password, user, &admin.Operator); err != nil {
		in.AddError("password", message)
	}
	if err := in.Err(); err != nil {
		return "", err
	}
	if err := s.limitPasswords(ctx, user.OperatorID); err != nil {
		return "", err
	}
	return generated, s.setPassword(ctx, user, password, models.AuditPasswordReset, requireAdministrator)
}

// ChangePassword changes the password of a signed-in user and deletes the user's other sessions.
// An administrator may reset the password while the old one is checked and the new one is hashed:
// that one stays.
func (s *Service) ChangePassword(ctx context.Context, who *db.SignedIn, in *jsonbody.Object) error {
	chosen := in.RequiredSecret("new", maxTypedPassword)
	if message, err := checkPassword(chosen, &who.User, &who.Operator); err != nil {
		in.AddError("new", message)
	}
	user, err := s.requirePassword(ctx, who, in, "current")
	if err != nil {
		return err
	}
	err = s.setPassword(ctx, user, chosen, models.AuditPasswordChanged, func(ctx context.Context, tx *db.DB) error {
		return lockChecked(ctx, tx, user)
	}, who.SessionID)
	return rowErrors{notFound: ErrNoSession}.replace(err)
}

// setPassword stores a checked password and deletes the user's sessions, except those in keep. As
// hashing takes time, allowed checks in the transaction whether it may still be stored.
func (s *Service) setPassword(
	ctx context.Context, user *models.User, password string, action models.AuditAction,
	allowed func(context.Context, *db.DB) error, keep ...uuid.UUID,
) error {
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := allowed(ctx, tx); err != nil {
			return err
		}
		if err := storePassword(ctx, tx, user.ID, hash, keep...); err != nil {
			return err
		}
		return s.audit(ctx, tx, user.OperatorID, action, &user.ID, "")
	})
}

// storePassword changes a user's password and deletes the user's sessions, except those in keep,
// and the user's reset, if there is one.
func storePassword(ctx context.Context, tx *db.DB, userID uuid.UUID, hash string, keep ...uuid.UUID) error {
	// The update comes first because it locks the user's row: a concurrent sign-in either commits
	// before and its session is deleted, or fails.
	err := db.RequireOneRow(tx.Query(ctx).Model(&models.User{}).Where("id = ?", userID).Update("password_hash", hash))
	if err != nil {
		return err
	}
	if err := tx.Query(ctx).Where("user_id = ?", userID).Delete(&models.PasswordReset{}).Error; err != nil {
		return err
	}
	return deleteSessions(ctx, tx, userID, keep...)
}

func readNewPassword(in *jsonbody.Object) (password, generated string) {
	return newPassword(in.Secret("password", maxTypedPassword))
}

// newPassword returns the given password, or generates one.
func newPassword(given string) (password, generated string) {
	if given != "" {
		return given, ""
	}
	generated = rand.Text()
	return generated, generated
}

// checkPassword returns what is wrong with a user's new password, with its message for the panel.
func checkPassword(password string, user *models.User, operator *models.Operator) (message string, err error) {
	switch err = credentials.CheckPassword(password, user.Email, user.Name, operator.Name); {
	case errors.Is(err, credentials.ErrPasswordTooShort):
		message = "debe tener al menos 8 caracteres"
	case errors.Is(err, credentials.ErrPasswordTooLong):
		message = "admite como máximo 72 bytes"
	case errors.Is(err, credentials.ErrPasswordGuessable):
		message = "es demasiado fácil de adivinar: elija otra"
	}
	return message, err
}

// passwordsPerMinute is how many passwords the signed-in people of one operator may enter or choose
// together: each costs as much as a sign-in, and others wait for theirs.
const passwordsPerMinute = 60

// limitPasswords counts a password that is to be hashed or compared for an operator.
func (s *Service) limitPasswords(ctx context.Context, operatorID uuid.UUID) error {
	now := s.clock.Now()
	used, err := s.db.CountRequest(ctx, "passwords:"+operatorID.String(), now)
	if err != nil || used <= passwordsPerMinute {
		return err
	}
	return apperror.Limited("too_many_requests", "Demasiadas contraseñas de su operador en un minuto. Espere al siguiente minuto.",
		clock.UntilNextMinute(now))
}

// requirePassword reads and checks the password of a signed-in user, and returns the user with what
// a session does not carry.
func (s *Service) requirePassword(
	ctx context.Context, who *db.SignedIn, in *jsonbody.Object, field string,
) (*models.User, error) {
	password := in.RequiredSecret(field, maxTypedPassword)
	if err := in.Err(); err != nil {
		return nil, err
	}
	user, err := findOwned[models.User](ctx, s.db, who.User.OperatorID, who.User.ID)
	if err != nil {
		return nil, err
	}
	if err := s.limitPasswords(ctx, user.OperatorID); err != nil {
		return nil, err
	}
	matches, err := s.passwords.Matches(ctx, user.PasswordHash, password)
	if err != nil {
		return nil, err
	}
	if !matches {
		in.AddError(field, "no es su contraseña actual")
	}
	return user, in.Err()
}

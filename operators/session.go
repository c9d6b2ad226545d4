package operators

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/db"
	"despacho/internal/credentials"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// SessionDuration is how long a session lasts from its sign-in.
const SessionDuration = 12 * time.Hour

// SignInRequest is a user's e-mail address and password.
type SignInRequest struct {
	// Email is normalized, so that attempts can be counted by it.
	Email    string
	password string
}

// ReadSignIn reads the request of a sign-in.
func ReadSignIn(in *jsonbody.Object) (SignInRequest, error) {
	request := SignInRequest{
		Email: normalizeEmail(in.RequiredText("email", maxEmail)), password: in.RequiredSecret("password", maxTypedPassword),
	}
	return request, in.Err()
}

// SignIn creates a session for an active user with the right password. It returns the session's
// token, of which only the hash is stored. The users of a suspended operator sign in too: they may
// read.
func (s *Service) SignIn(ctx context.Context, request SignInRequest) (user *models.User, token string, err error) {
	if user, err = s.checkSignIn(ctx, request); err != nil {
		return nil, "", err
	}
	if token, err = credentials.NewToken(); err != nil {
		return nil, "", err
	}
	now := s.clock.Now()
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		err := tx.InsertSession(ctx, &models.Session{
			ID: uuid.New(), UserID: user.ID, TokenHash: credentials.Hash(token), CreatedAt: now, ExpiresAt: now.Add(SessionDuration),
		}, user.PasswordHash)
		if err != nil {
			return err
		}
		return s.auditSession(ctx, tx, user, models.AuditSignIn)
	})
	if db.IsNotFound(err) {
		return nil, "", ErrBadSignIn
	}
	return user, token, err
}

// checkSignIn takes as long for an unknown e-mail as for a wrong password, so that its duration does
// not tell which e-mails exist.
func (s *Service) checkSignIn(ctx context.Context, request SignInRequest) (*models.User, error) {
	user, err := s.db.UserByEmail(ctx, request.Email)
	if err != nil && !db.IsNotFound(err) {
		return nil, err
	}
	// The hash of an unknown user is empty.
	if credentials.PasswordMatches(user.PasswordHash, request.password) && user.Active {
		return user, nil
	}
	if user.ID != uuid.Nil {
		if err := s.auditAttempt(ctx, user, models.AuditSignInFailed); err != nil {
			return nil, err
		}
	}
	return nil, ErrBadSignIn
}

// SignOut ends a session.
func (s *Service) SignOut(ctx context.Context, who *db.SignedIn) error {
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.DeleteSession(ctx, who.SessionID); err != nil {
			return err
		}
		return s.auditSession(ctx, tx, &who.User, models.AuditSignOut)
	})
}

// Authorize returns the user and the operator of a session that has the permission. A suspended
// operator's users may only read.
func (s *Service) Authorize(ctx context.Context, token string, p models.Permission) (*db.SignedIn, error) {
	who, err := s.db.SessionByToken(ctx, credentials.Hash(token), s.clock.Now())
	switch {
	case db.IsNotFound(err):
		return nil, ErrNoSession
	case err != nil:
		return nil, err
	case !p.Allows(&who.User):
		return nil, ErrNotAllowed
	case p.Writes && who.Operator.Suspended():
		return nil, ErrSuspended
	}
	return who, nil
}

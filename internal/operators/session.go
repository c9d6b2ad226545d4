package operators

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

const (
	// SessionDuration is how long a session lasts from its sign-in.
	SessionDuration = 12 * time.Hour
	// secondStepDuration is how long a user has to type the code of the second factor.
	secondStepDuration = 5 * time.Minute
	secondStepPurpose  = "sign-in with a second factor"
)

// SignInRequest is an attempt to sign in: with e-mail address, password and, if the user has a
// second factor, its code; or the second step of one whose password was right.
type SignInRequest struct {
	// Email is normalized, so that attempts can be counted by it.
	Email          string
	password, code string
	second         *secondStep
}

// secondStep says that a password was right. The digest is that of the password's hash then, so
// that a change of the password ends it.
type secondStep struct {
	Email  string
	Digest []byte
}

// ReadSignIn reads the request of a sign-in.
func ReadSignIn(in *jsonbody.Object) (SignInRequest, error) {
	request := SignInRequest{
		Email: normalizeEmail(in.RequiredText("email", maxEmail)), password: in.RequiredSecret("password", maxTypedPassword),
		code: in.Secret("code", maxTypedCode),
	}
	return request, in.Err()
}

// ReadSecondStep reads the request of the second step of a sign-in.
func (s *Service) ReadSecondStep(in *jsonbody.Object) (SignInRequest, error) {
	payload, ok := s.signer.Open(secondStepPurpose, in.RequiredSecret("step", maxSecondStep), s.clock.Now())
	step := &secondStep{}
	if !ok || json.Unmarshal(payload, step) != nil {
		return SignInRequest{}, ErrSecondStepExpired
	}
	request := SignInRequest{Email: step.Email, code: in.RequiredSecret("code", maxTypedCode), second: step}
	return request, in.Err()
}

// maxSecondStep is longer than any signed step.
const maxSecondStep = 1000

// SignInResult is the outcome of a sign-in.
type SignInResult struct {
	User *models.User
	// Token is the session's token, of which only the hash is stored.
	Token string
	// SecondStep is set instead if the password was right and the code of the second factor is
	// missing or wrong.
	SecondStep string
}

// SignIn creates a session for an active user with the right password and, if the user has a second
// factor, a right code. The users of a suspended operator sign in too: they may read.
func (s *Service) SignIn(ctx context.Context, request SignInRequest) (SignInResult, error) {
	user, err := s.checkSignIn(ctx, request)
	if err != nil {
		return SignInResult{}, err
	}
	if user.HasSecondFactor() {
		if err := s.checkCode(ctx, user, request.code); err != nil {
			if errors.Is(err, ErrBadCode) {
				err = errors.Join(s.auditAttempt(ctx, user, models.AuditSignInFailed), err)
			}
			return SignInResult{SecondStep: s.newSecondStep(user)}, err
		}
	}
	token, err := credentials.NewToken()
	if err != nil {
		return SignInResult{}, err
	}
	now := s.clock.Now()
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := lockChecked(ctx, tx, user); err != nil {
			return err
		}
		err := tx.Insert(ctx, &models.Session{
			ID: uuid.New(), UserID: user.ID, TokenHash: credentials.Hash(token), CreatedAt: now,
			ExpiresAt: now.Add(SessionDuration),
		})
		if err != nil {
			return err
		}
		return s.auditSession(ctx, tx, user, models.AuditSignIn)
	})
	if db.IsNotFound(err) {
		err = ErrBadSignIn
	}
	return SignInResult{User: user, Token: token}, err
}

// lockChecked locks a user whose password, and code if there is a second factor, were checked. It
// returns db.ErrNotFound if the user was deactivated since, the password changed, or a second
// factor was set up or removed, so that nothing that the password allows outlives any of these.
func lockChecked(ctx context.Context, tx *db.DB, checked *models.User) error {
	return tx.QueryForUpdate(ctx).Select("id").
		Where("id = ? AND active AND password_hash = ?", checked.ID, checked.PasswordHash).
		Where("(totp_confirmed_at IS NOT NULL) = ?", checked.HasSecondFactor()).Take(&models.User{}).Error
}

// deleteSessions deletes a user's sessions, except those in keep.
func deleteSessions(ctx context.Context, tx *db.DB, userID uuid.UUID, keep ...uuid.UUID) error {
	query := tx.Query(ctx).Where("user_id = ?", userID)
	if len(keep) > 0 {
		query = query.Where("id NOT IN ?", keep)
	}
	return query.Delete(&models.Session{}).Error
}

// findUser finds a panel user of any operator by e-mail address.
func findUser(ctx context.Context, tx *db.DB, email string) (*models.User, error) {
	var user models.User
	err := tx.Query(ctx).Where("email = ?", email).Take(&user).Error
	return &user, err
}

// checkSignIn takes as long for an unknown e-mail as for a wrong password, so that its duration
// does not tell which e-mails exist.
func (s *Service) checkSignIn(ctx context.Context, request SignInRequest) (*models.User, error) {
	user, err := findUser(ctx, s.db, request.Email)
	if err != nil && !db.IsNotFound(err) {
		return nil, err
	}
	if request.second != nil {
		if !user.Active || !bytes.Equal(request.second.Digest, credentials.Hash(user.PasswordHash)) {
			return nil, ErrSecondStepExpired
		}
		return user, nil
	}
	// The hash of an unknown user is empty.
	matches, err := s.passwords.Matches(ctx, user.PasswordHash, request.password)
	if err != nil {
		return nil, err
	}
	if matches && user.Active {
		return user, nil
	}
	if user.ID != uuid.Nil {
		if err := s.auditAttempt(ctx, user, models.AuditSignInFailed); err != nil {
			return nil, err
		}
	}
	return nil, ErrBadSignIn
}

func (s *Service) newSecondStep(user *models.User) string {
	payload, err := json.Marshal(secondStep{Email: user.Email, Digest: credentials.Hash(user.PasswordHash)})
	if err != nil {
		panic(err) // text and bytes can always be encoded
	}
	return s.signer.Sign(secondStepPurpose, payload, s.clock.Now().Add(secondStepDuration))
}

// SignOut ends a session.
func (s *Service) SignOut(ctx context.Context, who *db.SignedIn) error {
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.Query(ctx).Where("id = ?", who.SessionID).Delete(&models.Session{}).Error; err != nil {
			return err
		}
		return s.auditSession(ctx, tx, &who.User, models.AuditSignOut)
	})
}

// Authorize returns the user and the operator of a session that has the permission, and counts the
// request. A suspended operator's users may only read; those of an inactive store, and
// administrators who lack the second factor that the operator requires, may only use their own
// account. It also returns the order with the id, or nil if there is none that the user may see.
func (s *Service) Authorize(
	ctx context.Context, token string, p models.Permission, orderID uuid.UUID,
) (*db.SignedIn, *models.OrderView, error) {
	now := s.clock.Now()
	who, order, err := s.db.SessionByToken(ctx, credentials.Hash(token), now, orderID)
	if db.IsNotFound(err) {
		err = ErrNoSession
	}
	if err == nil {
		err = s.permit(who, p, now)
	}
	if err != nil {
		return nil, nil, err
	}
	return who, order, nil
}

// Reauthorize checks a session again that had the permission, and counts nothing. A user who has
// moved to another store, or out of one, has other orders than the request was made with.
func (s *Service) Reauthorize(ctx context.Context, token string, p models.Permission, was *db.SignedIn) error {
	now := s.clock.Now()
	who, err := s.db.Session(ctx, credentials.Hash(token), now)
	if db.IsNotFound(err) {
		return ErrNoSession
	}
	if err == nil {
		err = s.permit(who, p, now)
	}
	if err == nil && !isSame(who.User.StoreID, was.User.StoreID) {
		err = ErrNotAllowed
	}
	return err
}

// permit checks the user's limits and permission.
func (s *Service) permit(who *db.SignedIn, p models.Permission, now time.Time) error {
	switch {
	case who.UserRequests > s.userLimit, who.OperatorRequests > s.operatorLimit:
		return apperror.Limited("rate_limited", "Su usuario o su operador hizo demasiadas solicitudes. Espere al siguiente minuto.",
			clock.UntilNextMinute(now))
	case !p.Allows(&who.User):
		return notAllowed(&who.User, p)
	case p.OwnAccount:
		return nil
	case !who.StoreActive:
		return ErrStoreInactive
	case who.User.Administers() && who.Operator.RequireSecondFactor && !who.User.HasSecondFactor():
		return ErrSecondFactorRequired
	case p.Writes && who.Operator.Suspended():
		return ErrSuspended
	}
	return nil
}

// notAllowed says what the user lacks, if an administrator could give it.
func notAllowed(user *models.User, p models.Permission) error {
	var missing []string
	for _, grant := range p.Needs {
		missing = append(missing, grant.Label())
	}
	if p.AdminOnly {
		missing = []string{"Administración"}
	}
	if user.Role != models.RoleOperator || len(missing) == 0 {
		return ErrNotAllowed
	}
	return ErrNotAllowed.Saying("Su usuario no tiene permiso de " + strings.Join(missing, " ni de ") + ".")
}

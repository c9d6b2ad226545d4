package operators

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/encryption"
	"despacho/internal/jsonbody"
	"despacho/internal/totp"
	"despacho/models"
)

const (
	// maxTypedCode is longer than any code, with the spaces that people type.
	maxTypedCode = 40
	// recoveryCodes is how many recovery codes a user gets.
	recoveryCodes = 10
	// recoveryCodeLength has 80 random bits, enough for a plain hash; groups of recoveryCodeGroup are
	// separated by hyphens.
	recoveryCodeLength = 16
	recoveryCodeGroup  = 4
)

// NewSecondFactor is a second factor that the user has not confirmed yet.
type NewSecondFactor struct {
	// Secret is for an application that cannot read the QR code of URI.
	Secret, URI string
}

// StartSecondFactor generates the secret of a second factor for a signed-in user who knows the
// password. It counts from ConfirmSecondFactor on.
func (s *Service) StartSecondFactor(ctx context.Context, who *db.SignedIn, in *jsonbody.Object) (*NewSecondFactor, error) {
	user, err := s.requirePassword(ctx, who, in, "password")
	if err != nil {
		return nil, err
	}
	secret := totp.NewSecret()
	sealed := s.secrets.Seal(secret, secondFactorContext(user.ID))
	if err := s.db.StartSecondFactor(ctx, user.ID, sealed); err != nil {
		return nil, rowErrors{notFound: ErrSecondFactorActive}.replace(err)
	}
	return &NewSecondFactor{Secret: totp.Text(secret), URI: totp.URI(who.Operator.Name, user.Email, secret)}, nil
}

func (s *Service) pendingSecret(ctx context.Context, who *db.SignedIn) (*models.User, []byte, error) {
	user, err := db.FindOwned[models.User](ctx, s.db, who.User.OperatorID, who.User.ID)
	switch {
	case err != nil:
		return nil, nil, err
	case user.HasSecondFactor():
		return nil, nil, ErrSecondFactorActive
	case user.TOTPSecret == nil:
		return nil, nil, ErrNoSecondFactor
	}
	secret, err := s.secrets.Open(user.TOTPSecret, secondFactorContext(user.ID))
	return user, secret, err
}

// ConfirmSecondFactor makes the generated second factor count, given a code that it shows. The
// user's other sessions end. It returns the recovery codes, of which only the hashes are stored.
func (s *Service) ConfirmSecondFactor(ctx context.Context, who *db.SignedIn, in *jsonbody.Object) (codes []string, err error) {
	code := in.RequiredSecret("code", maxTypedCode)
	user, secret, err := s.pendingSecret(ctx, who)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	step, ok := totp.Match(secret, plainCode(code), now)
	if !ok {
		in.AddError("code", wrongCode)
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	codes, hashes := newRecoveryCodes()
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.ConfirmSecondFactor(ctx, user, step, now, hashes, who.SessionID); err != nil {
			return err
		}
		return s.audit(ctx, tx, user.OperatorID, models.AuditSecondFactorAdded, &user.ID, "")
	})
	return codes, rowErrors{notFound: ErrNoSecondFactor}.replace(err)
}

// RemoveSecondFactor removes the second factor of a signed-in user, who needs the password and a
// code.
func (s *Service) RemoveSecondFactor(ctx context.Context, who *db.SignedIn, in *jsonbody.Object) error {
	code := in.RequiredSecret("code", maxTypedCode)
	user, err := s.requirePassword(ctx, who, in, "password")
	if err != nil {
		return err
	}
	if !user.HasSecondFactor() {
		return ErrNoSecondFactor
	}
	switch err := s.checkCode(ctx, user, code); {
	case isWrongCode(err):
		in.AddError("code", wrongCode)
		return in.Err()
	case err != nil:
		return err
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.RemoveSecondFactor(ctx, user.ID); err != nil {
			return err
		}
		return s.audit(ctx, tx, user.OperatorID, models.AuditSecondFactorRemoved, &user.ID, "")
	})
}

// ResetSecondFactor removes a colleague's second factor, because its device and its recovery codes
// are lost. The colleague's sessions end.
func (s *Service) ResetSecondFactor(ctx context.Context, admin *db.SignedIn, id uuid.UUID) error {
	user, err := s.colleague(ctx, admin, id)
	if err != nil {
		return err
	}
	return s.dropSecondFactor(ctx, user)
}

func (s *Service) dropSecondFactor(ctx context.Context, user *models.User) error {
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := tx.RemoveSecondFactor(ctx, user.ID); err != nil {
			return err
		}
		if err := tx.DeleteSessionsOf(ctx, user.ID); err != nil {
			return err
		}
		return s.audit(ctx, tx, user.OperatorID, models.AuditSecondFactorReset, &user.ID, "")
	})
}

// ReencryptSecondFactors encrypts the secrets of all second factors with the current SECRET_KEY,
// and returns how many changed. Each user is changed alone: an interrupted run is simply repeated.
// A secret that no key opens is left as it is and reported at the end, as encryption.ErrOpen.
func (s *Service) ReencryptSecondFactors(ctx context.Context) (changed int, err error) {
	users, err := s.db.UsersWithSecondFactor(ctx)
	if err != nil {
		return 0, err
	}
	var unreadable encryption.Unreadable
	for _, user := range users {
		resealed, isNew, err := s.secrets.Reseal(user.TOTPSecret, secondFactorContext(user.ID))
		if err != nil {
			if err = fmt.Errorf("second factor of user %s: %w", user.ID, err); !unreadable.Add(err) {
				return changed, err
			}
		}
		if !isNew {
			continue
		}
		replaced, err := s.db.ReplaceSecondFactorSecret(ctx, user.ID, user.TOTPSecret, resealed)
		if err != nil {
			return changed, err
		}
		if replaced {
			changed++
		}
	}
	return changed, unreadable.Err()
}

// RecoveryCodesLeft is how many recovery codes a user has not used.
func (s *Service) RecoveryCodesLeft(ctx context.Context, user *models.User) (int64, error) {
	return s.db.CountRecoveryCodes(ctx, user.ID)
}

// checkCode accepts a code of the user's second factor, or a recovery code, and uses it up.
func (s *Service) checkCode(ctx context.Context, user *models.User, typed string) error {
	code := plainCode(typed)
	switch len(code) {
	case 0:
		return ErrCodeNeeded
	case totp.Digits:
		secret, err := s.secrets.Open(user.TOTPSecret, secondFactorContext(user.ID))
		if err != nil {
			return err
		}
		step, ok := totp.Match(secret, code, s.clock.Now())
		if !ok {
			return ErrBadCode
		}
		return rowErrors{notFound: ErrBadCode}.replace(s.db.UseStep(ctx, user.ID, step))
	case recoveryCodeLength:
		return rowErrors{notFound: ErrBadCode}.replace(s.db.UseRecoveryCode(ctx, user.ID, credentials.Hash(code)))
	}
	return ErrBadCode
}

const wrongCode = "no es correcto, o ya se usó"

// secondFactorContext binds an encrypted secret to its user.
func secondFactorContext(userID uuid.UUID) []byte {
	return append([]byte("second factor "), userID[:]...)
}

// plainCode removes the spaces and hyphens that people type or paste.
func plainCode(typed string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "\u00a0", "", "\t", "").Replace(typed))
}

func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		plain := rand.Text()[:recoveryCodeLength] // base32 text: 5 bits for each character
		var groups []string
		for at := 0; at < recoveryCodeLength; at += recoveryCodeGroup {
			groups = append(groups, plain[at:at+recoveryCodeGroup])
		}
		codes, hashes = append(codes, strings.Join(groups, "-")), append(hashes, credentials.Hash(plain))
	}
	return codes, hashes
}

package operators

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/credentials"
	"despacho/internal/db"
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
	// codesPerDay is how many codes that are no recovery codes are tried for one user in a day: of a
	// million, three are right at a time.
	codesPerDay = 50
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
	sealed := s.secrets.Seal(secret, SecondFactorContext(user.ID))
	err = db.RequireOneRow(s.db.Query(ctx).Model(&models.User{}).Where("id = ? AND totp_confirmed_at IS NULL", user.ID).
		Updates(map[string]any{"totp_secret": sealed, "totp_last_step": 0}))
	if err != nil {
		return nil, rowErrors{notFound: ErrSecondFactorActive}.replace(err)
	}
	return &NewSecondFactor{Secret: totp.Text(secret), URI: totp.URI(who.Operator.Name, user.Email, secret)}, nil
}

func (s *Service) pendingSecret(ctx context.Context, who *db.SignedIn) (*models.User, []byte, error) {
	user, err := findOwned[models.User](ctx, s.db, who.User.OperatorID, who.User.ID)
	switch {
	case err != nil:
		return nil, nil, err
	case user.HasSecondFactor():
		return nil, nil, ErrSecondFactorActive
	case user.TOTPSecret == nil:
		return nil, nil, ErrNoSecondFactor
	}
	secret, err := s.secrets.Open(user.TOTPSecret, SecondFactorContext(user.ID))
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
		if err := confirm(ctx, tx, user, step, now, hashes); err != nil {
			return err
		}
		// The other sessions were opened without it.
		if err := deleteSessions(ctx, tx, user.ID, who.SessionID); err != nil {
			return err
		}
		return s.audit(ctx, tx, user.OperatorID, models.AuditSecondFactorAdded, &user.ID, "")
	})
	return codes, rowErrors{notFound: ErrNoSecondFactor}.replace(err)
}

// confirm makes the stored secret the user's second factor from now on, with its recovery codes. It
// returns db.ErrNotFound if the secret is no longer the stored one or counts already.
func confirm(ctx context.Context, tx *db.DB, user *models.User, step int64, now time.Time, codeHashes [][]byte) error {
	err := db.RequireOneRow(tx.Query(ctx).Model(&models.User{}).
		Where("id = ? AND totp_confirmed_at IS NULL AND totp_secret = ?", user.ID, user.TOTPSecret).
		Updates(map[string]any{"totp_confirmed_at": now, "totp_last_step": step}))
	if err != nil {
		return err
	}
	codes := make([]models.RecoveryCode, len(codeHashes))
	for i, hash := range codeHashes {
		codes[i] = models.RecoveryCode{UserID: user.ID, Hash: hash}
	}
	return tx.Insert(ctx, &codes)
}

// deleteSecondFactor removes a user's second factor and its recovery codes.
func deleteSecondFactor(ctx context.Context, tx *db.DB, userID uuid.UUID) error {
	err := db.RequireOneRow(tx.Query(ctx).Model(&models.User{}).Where("id = ?", userID).
		Updates(map[string]any{"totp_secret": nil, "totp_confirmed_at": nil, "totp_last_step": 0}))
	if err != nil {
		return err
	}
	return tx.Query(ctx).Where("user_id = ?", userID).Delete(&models.RecoveryCode{}).Error
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
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := lockChecked(ctx, tx, user); err != nil {
			return err
		}
		if err := deleteSecondFactor(ctx, tx, user.ID); err != nil {
			return err
		}
		return s.audit(ctx, tx, user.OperatorID, models.AuditSecondFactorRemoved, &user.ID, "")
	})
	return rowErrors{notFound: ErrNoSession}.replace(err)
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
		if err := deleteSecondFactor(ctx, tx, user.ID); err != nil {
			return err
		}
		if err := deleteSessions(ctx, tx, user.ID); err != nil {
			return err
		}
		return s.audit(ctx, tx, user.OperatorID, models.AuditSecondFactorReset, &user.ID, "")
	})
}

// RecoveryCodesLeft is how many recovery codes a user has not used.
func (s *Service) RecoveryCodesLeft(ctx context.Context, user *models.User) (left int64, err error) {
	err = s.db.Query(ctx).Model(&models.RecoveryCode{}).Where("user_id = ?", user.ID).Count(&left).Error
	return left, err
}

// checkCode accepts a code of the user's second factor, or a recovery code, and uses it up.
func (s *Service) checkCode(ctx context.Context, user *models.User, typed string) error {
	code := plainCode(typed)
	switch len(code) {
	case 0:
		return ErrCodeNeeded
	case totp.Digits:
		if err := s.limitCodes(ctx, user); err != nil {
			return err
		}
		secret, err := s.secrets.Open(user.TOTPSecret, SecondFactorContext(user.ID))
		if err != nil {
			return err
		}
		step, ok := totp.Match(secret, code, s.clock.Now())
		if !ok {
			return ErrBadCode
		}
		// A code of this step, or of a later one, may have been used.
		used := s.db.Query(ctx).Model(&models.User{}).Where("id = ? AND totp_last_step < ?", user.ID,
			step).Update("totp_last_step",
			step)
		return rowErrors{notFound: ErrBadCode}.replace(db.RequireOneRow(used))
	case recoveryCodeLength:
		used := s.db.Query(ctx).Where("user_id = ? AND hash = ?", user.ID, credentials.Hash(code)).Delete(&models.RecoveryCode{})
		return rowErrors{notFound: ErrBadCode}.replace(db.RequireOneRow(used))
	}
	return ErrBadCode
}

// limitCodes counts a code of somebody who knows the user's password.
func (s *Service) limitCodes(ctx context.Context, user *models.User) error {
	now := s.clock.Now()
	used, err := s.db.CountToday(ctx, "code:"+user.ID.String(), now)
	if err != nil || used <= codesPerDay {
		return err
	}
	return apperror.Limited("too_many_requests",
		"Demasiados códigos en un día. Use un código de recuperación o vuelva a intentarlo mañana.", clock.UntilNextDay(now))
}

const wrongCode = "no es correcto, o ya se usó"

// SecondFactorContext returns what an encrypted secret is bound to.
func SecondFactorContext(userID uuid.UUID) []byte {
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

package riders

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"despacho/internal/apperror"
	"despacho/internal/clock"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

const (
	// maxPINFailures is how many wrong PINs in a row end a phone's access.
	maxPINFailures = 5
	// pinsPerPhone and pinsPerOperator are how many PINs a minute one phone and all of an operator's
	// may enter: each costs as much as a sign-in, and others wait for theirs.
	pinsPerPhone, pinsPerOperator = 10, 300
	// maxTypedPIN is longer than any PIN.
	maxTypedPIN = 50
)

var validPIN = regexp.MustCompile(`^[0-9]{4,8}$`)

func readPIN(in *jsonbody.Object) string {
	pin := in.RequiredSecret("pin", maxTypedPIN)
	if pin != "" && !validPIN.MatchString(pin) {
		in.AddError("pin", "debe tener de 4 a 8 cifras")
	}
	return pin
}

// Unlock checks the PIN that was entered on a phone. A right one unlocks the phone for a working
// day; the last of too many wrong ones in a row ends its access.
func (s *Service) Unlock(ctx context.Context, who *db.RiderOnPhone, in *jsonbody.Object) (until time.Time, err error) {
	pin := readPIN(in)
	if err := in.Err(); err != nil {
		return until, err
	}
	if err := s.limitPINs(ctx, &who.Device); err != nil {
		return until, err
	}
	pinHash, tries, err := s.takeTry(ctx, who.Device.ID)
	if err != nil {
		return until, err
	}
	matches := false
	if tries <= maxPINFailures {
		if matches, err = s.passwords.Matches(ctx, pinHash, pin); err != nil {
			return until, errors.Join(err, s.giveBackTry(ctx, who.Device.ID))
		}
	}
	switch {
	case matches:
		return s.unlock(ctx, who.Device.ID)
	case tries < maxPINFailures:
		return until, ErrPINWrong.Saying("El PIN no es correcto. " + triesLeft(maxPINFailures-tries))
	}
	return until, s.lockOut(ctx, who)
}

// takeTry counts a PIN as wrong before it is checked, so that many at once are no more tries than
// one after the other.
func (s *Service) takeTry(ctx context.Context, deviceID uuid.UUID) (pinHash string, tries int, err error) {
	var device models.RiderDevice
	err = db.RequireOneRow(s.db.Query(ctx).Raw(`UPDATE rider_devices SET pin_failures = pin_failures + 1
		WHERE id = ? AND activated_at IS NOT NULL AND revoked_at IS NULL RETURNING pin_hash, pin_failures`, deviceID).Scan(&device))
	if db.IsNotFound(err) {
		err = ErrDeviceRevoked
	}
	if err != nil {
		return "", 0, err
	}
	return *device.PINHash, device.PINFailures, nil
}

// giveBackTry takes back the count of a PIN that could not be checked, even if the client is gone.
func (s *Service) giveBackTry(ctx context.Context, deviceID uuid.UUID) error {
	return s.db.Query(context.WithoutCancel(ctx)).Model(&models.RiderDevice{}).Where("id = ? AND pin_failures > 0", deviceID).
		Update("pin_failures", gorm.Expr("pin_failures - 1")).Error
}

func (s *Service) unlock(ctx context.Context, deviceID uuid.UUID) (until time.Time, err error) {
	until = s.clock.Now().Add(unlockDuration)
	err = db.RequireOneRow(s.db.Query(ctx).Model(&models.RiderDevice{}).Where("id = ? AND revoked_at IS NULL", deviceID).
		Updates(map[string]any{"pin_failures": 0, "unlocked_until": until}))
	if db.IsNotFound(err) {
		err = ErrDeviceRevoked
	}
	return until, err
}

// lockOut ends the access of a phone after too many wrong PINs.
func (s *Service) lockOut(ctx context.Context, who *db.RiderOnPhone) error {
	now := s.clock.Now()
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		err := db.RequireOneRow(tx.Query(ctx).Model(&models.RiderDevice{}).Where("id = ? AND revoked_at IS NULL", who.Device.ID).
			Update("revoked_at", now))
		if err != nil {
			return err
		}
		return audit(ctx, tx, &who.Rider, models.AuditDeviceLocked, now, "")
	})
	if err == nil || db.IsNotFound(err) {
		err = ErrDeviceRevoked.Saying(fmt.Sprintf("Se equivocó %d veces seguidas: este celular ya no tiene acceso. "+
			"Pida otro enlace a su operador.", maxPINFailures))
	}
	return err
}

func triesLeft(left int) string {
	if left == 1 {
		return "Le queda 1 intento: después tendrá que pedir otro enlace."
	}
	return fmt.Sprintf("Le quedan %d intentos.", left)
}

// limitPINs counts a PIN that is to be hashed or compared.
func (s *Service) limitPINs(ctx context.Context, device *models.RiderDevice) error {
	now := s.clock.Now()
	for _, limited := range []struct {
		subject string
		most    int
	}{{"pin:" + device.ID.String(), pinsPerPhone}, {"pins:" + device.OperatorID.String(), pinsPerOperator}} {
		used, err := s.db.CountRequest(ctx, limited.subject, now)
		if err != nil {
			return err
		}
		if used > limited.most {
			return apperror.Limited("too_many_requests", "Demasiados PIN en un minuto. Espere al siguiente minuto.",
				clock.UntilNextMinute(now))
		}
	}
	return nil
}

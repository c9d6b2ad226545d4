package riders

import (
	"context"
	"maps"
	"time"

	"github.com/google/uuid"

	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/internal/jsonbody"
	"despacho/models"
)

// unlockDuration is how long a phone does not ask for the PIN again.
const unlockDuration = 12 * time.Hour

// maxToken is longer than any token.
const maxToken = 200

// Activation is a phone that was made a rider's.
type Activation struct {
	*db.RiderOnPhone
	// Token is the phone's, of which only the hash is stored.
	Token string
}

// Activate makes the phone that has a link the rider's, with the PIN that the rider chose. It takes
// the place of the rider's phone before, whose access ends.
func (s *Service) Activate(ctx context.Context, in *jsonbody.Object) (*Activation, error) {
	linkHash, pin := credentials.Hash(in.RequiredSecret("token", maxToken)), readPIN(in)
	if err := in.Err(); err != nil {
		return nil, err
	}
	device, err := s.linked(ctx, linkHash)
	if err != nil {
		return nil, linkError(err)
	}
	if err := s.limitPINs(ctx, device); err != nil {
		return nil, err
	}
	pinHash, err := s.passwords.HashPIN(ctx, pin)
	if err != nil {
		return nil, err
	}
	token, err := credentials.NewToken()
	if err != nil {
		return nil, err
	}
	tokenHash := credentials.Hash(token)
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		return s.activate(ctx, tx, device, linkHash, map[string]any{"token_hash": tokenHash, "pin_hash": pinHash})
	})
	if err != nil {
		return nil, linkError(err)
	}
	activated, err := s.db.RiderOnPhone(ctx, tokenHash)
	return &Activation{RiderOnPhone: activated, Token: token}, err
}

// linked finds what an unexpired link of an active rider activates.
func (s *Service) linked(ctx context.Context, linkHash []byte) (*models.RiderDevice, error) {
	var device models.RiderDevice
	err := s.db.Query(ctx).Joins("JOIN riders r ON r.id = rider_devices.rider_id").
		Where("rider_devices.link_hash = ? AND rider_devices.link_expires_at > ? AND r.active", linkHash, s.clock.Now()).
		Take(&device).Error
	return &device, err
}

// activate uses a link, unless it was used, replaced or taken back since it was read.
func (s *Service) activate(
	ctx context.Context, tx *db.DB, device *models.RiderDevice, linkHash []byte, secrets map[string]any,
) error {
	rider, err := lockRider(ctx, tx, device.OperatorID, device.RiderID)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	replaced, err := revokePhone(ctx, tx, rider.ID, now)
	if err != nil {
		return err
	}
	changes := map[string]any{
		"link_hash": nil, "unlocked_until": now.Add(unlockDuration), "activated_at": now, "last_seen_at": now,
	}
	maps.Copy(changes, secrets)
	err = db.RequireOneRow(tx.Query(ctx).Model(&models.RiderDevice{}).
		Where("id = ? AND link_hash = ? AND link_expires_at > ?", device.ID, linkHash, now).Updates(changes))
	if err != nil {
		return err
	}
	detail := ""
	if replaced {
		detail = "replaced"
	}
	return audit(ctx, tx, rider, models.AuditDeviceActivated, now, detail)
}

// linkError turns the absence of a row into ErrLinkInvalid.
func linkError(err error) error {
	if db.IsNotFound(err) {
		return ErrLinkInvalid
	}
	return err
}

// Needs says what a phone's request needs besides a phone with access.
type Needs struct {
	// PIN is that the PIN was entered not long ago.
	PIN bool
	// Writes are refused while the operator is suspended; reads are not.
	Writes bool
}

// Authorize finds the phone with a token and counts its request. The caller checks the number of
// its requests, then Admit whether this one may be made.
func (s *Service) Authorize(ctx context.Context, token string) (*db.RiderOnPhone, error) {
	who, err := s.db.RiderByToken(ctx, credentials.Hash(token), s.clock.Now())
	return who, s.usable(who, err)
}

// Admit reports why a phone may not make a request that it needs something for.
func (s *Service) Admit(who *db.RiderOnPhone, needs Needs) error {
	switch {
	case needs.PIN && !who.Device.Unlocked(s.clock.Now()):
		return ErrPINRequired
	case needs.Writes && who.Operator.Suspended():
		return ErrSuspended
	}
	return nil
}

// Reauthorize checks again a phone whose request was admitted, and counts nothing.
func (s *Service) Reauthorize(ctx context.Context, token string, needs Needs) error {
	who, err := s.db.RiderOnPhone(ctx, credentials.Hash(token))
	if err = s.usable(who, err); err != nil {
		return err
	}
	return s.Admit(who, needs)
}

// usable turns what was found of a phone into the error of one that has no access.
func (s *Service) usable(who *db.RiderOnPhone, err error) error {
	switch {
	case db.IsNotFound(err):
		return ErrNoDevice
	case err != nil:
		return err
	case who.Device.RevokedAt != nil, !who.Rider.Active:
		return ErrDeviceRevoked
	}
	return nil
}

// Lock has a phone ask for the PIN again.
func (s *Service) Lock(ctx context.Context, deviceID uuid.UUID) error {
	return s.db.Query(ctx).Model(&models.RiderDevice{}).Where("id = ?", deviceID).Update("unlocked_until", nil).Error
}

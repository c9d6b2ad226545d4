package riders

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/models"
)

// linkDuration is how long a link may be used.
const linkDuration = 24 * time.Hour

// PagePath is the page of the riders.
const PagePath = "/reparto"

// Link makes a phone the rider's, once.
type Link struct {
	Rider *models.Rider
	// Token is part of the link; only its hash is stored.
	Token     string
	ExpiresAt time.Time
}

// URL is the address for the rider. The token is in its fragment, which browsers send to nobody: no
// log, no referrer and no preview of the link has it.
func (l *Link) URL(baseURL string) string { return baseURL + PagePath + "#" + l.Token }

// Link makes a link for one of the operator's riders, which replaces the one that the rider has not
// used. A phone that works goes on working until the link is used.
func (s *Service) Link(ctx context.Context, operator *models.Operator, riderID uuid.UUID) (*Link, error) {
	token, err := credentials.NewToken()
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	link := &Link{Token: token, ExpiresAt: now.Add(linkDuration)}
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if link.Rider, err = lockRider(ctx, tx, operator.ID, riderID); err != nil {
			return err
		}
		if !link.Rider.Active {
			return ErrRiderInactive
		}
		if _, err := deleteLink(ctx, tx, riderID); err != nil {
			return err
		}
		err := tx.Insert(ctx, &models.RiderDevice{
			ID: uuid.New(), OperatorID: operator.ID, RiderID: riderID, LinkHash: credentials.Hash(token),
			LinkExpiresAt: link.ExpiresAt, CreatedAt: now,
		})
		if err != nil {
			return err
		}
		return audit(ctx, tx, link.Rider, models.AuditDeviceLinked, now, "")
	})
	if db.IsNotFound(err) {
		err = ErrRiderNotFound
	}
	return link, err
}

// Access is what the panel shows of a rider's access.
type Access struct {
	// Phone is the phone that works for the rider, Link the link that was not used and has not
	// expired; nil if there is none.
	Phone, Link *models.RiderDevice
}

// List returns the access of the operator's riders, by rider.
func (s *Service) List(ctx context.Context, operator *models.Operator) (map[uuid.UUID]Access, error) {
	var devices []models.RiderDevice
	err := s.db.Query(ctx).Omit("link_hash", "token_hash", "pin_hash").
		Where("operator_id = ? AND revoked_at IS NULL AND (activated_at IS NOT NULL OR link_expires_at > ?)", operator.ID,
			s.clock.Now()).Find(&devices).Error
	found := make(map[uuid.UUID]Access, len(devices))
	for i := range devices {
		access := found[devices[i].RiderID]
		if devices[i].ActivatedAt != nil {
			access.Phone = &devices[i]
		} else {
			access.Link = &devices[i]
		}
		found[devices[i].RiderID] = access
	}
	return found, err
}

// Revoke ends the access of one of the operator's riders: the phone is refused from its next
// request on, and the link that was not used can no longer be.
func (s *Service) Revoke(ctx context.Context, operator *models.Operator, riderID uuid.UUID) error {
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		rider, err := lockRider(ctx, tx, operator.ID, riderID)
		if err != nil {
			return err
		}
		return End(ctx, tx, rider, s.clock.Now())
	})
	if db.IsNotFound(err) {
		err = ErrRiderNotFound
	}
	return err
}

// End ends the access of a rider whom the caller has locked, in the transaction of the change that
// takes it away. What there was to end is in the audit log.
func End(ctx context.Context, tx *db.DB, rider *models.Rider, now time.Time) error {
	linked, err := deleteLink(ctx, tx, rider.ID)
	if err != nil {
		return err
	}
	phones, err := revokePhone(ctx, tx, rider.ID, now)
	if err != nil || !linked && !phones {
		return err
	}
	return audit(ctx, tx, rider, models.AuditDeviceRevoked, now, "")
}

// deleteLink deletes the link that a rider has not used.
func deleteLink(ctx context.Context, tx *db.DB, riderID uuid.UUID) (deleted bool, err error) {
	result := tx.Query(ctx).Where("rider_id = ? AND activated_at IS NULL", riderID).Delete(&models.RiderDevice{})
	return result.RowsAffected > 0, result.Error
}

// revokePhone ends the access of the phone that works for a rider. Its row stays, so that the phone
// is told why it is refused.
func revokePhone(ctx context.Context, tx *db.DB, riderID uuid.UUID, now time.Time) (revoked bool, err error) {
	result := tx.Query(ctx).Model(&models.RiderDevice{}).
		Where("rider_id = ? AND activated_at IS NOT NULL AND revoked_at IS NULL", riderID).Update("revoked_at", now)
	return result.RowsAffected > 0, result.Error
}

package cluster

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/models"
)

// LinkPhone inserts a phone of an operator's rider that needs no PIN for a day, without hashing
// one. It returns the value of its cookie.
func LinkPhone(ctx context.Context, database *db.DB, operator, rider uuid.UUID) (string, error) {
	token, err := credentials.NewToken()
	if err != nil {
		return "", err
	}
	now := time.Now().UTC()
	unlocked, unused := now.Add(24*time.Hour), "-"
	return token, database.Insert(ctx, &models.RiderDevice{
		ID: uuid.New(), OperatorID: operator, RiderID: rider, LinkExpiresAt: now, TokenHash: credentials.Hash(token), PINHash: &unused,
		UnlockedUntil: &unlocked, CreatedAt: now, ActivatedAt: &now, LastSeenAt: &now,
	})
}

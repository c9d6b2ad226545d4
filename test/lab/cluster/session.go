package cluster

import (
	"context"
	"time"

	"github.com/google/uuid"

	"despacho/internal/credentials"
	"despacho/internal/db"
	"despacho/models"
)

// OpenSession inserts an operator's user who has every grant, with a session, without hashing a
// password. It returns the token.
func OpenSession(ctx context.Context, database *db.DB, operator uuid.UUID) (string, error) {
	now := time.Now().UTC()
	user := models.User{
		ID: uuid.New(), OperatorID: operator, Email: uuid.NewString() + "@cluster.example", Name: "Personal",
		PasswordHash: "-", Role: models.RoleOperator, Grants: models.JoinSpaced(models.Grants), Active: true, CreatedAt: now,
	}
	token, err := credentials.NewToken()
	if err != nil {
		return "", err
	}
	session := models.Session{
		ID: uuid.New(), UserID: user.ID, TokenHash: credentials.Hash(token), CreatedAt: now, ExpiresAt: now.Add(24 * time.Hour),
	}
	for _, row := range []any{&user, &session} {
		if err := database.Insert(ctx, row); err != nil {
			return "", err
		}
	}
	return token, nil
}

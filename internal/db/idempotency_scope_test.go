package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
)

// Responses are found in their scope until they expire.
func TestCompletedKeys(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		ctx, now, scope := context.Background(), time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC), uuid.New()
		record := func(scopeID uuid.UUID, key string, response []byte, expires time.Time) {
			require.NoError(t, database.Insert(ctx, &models.IdempotencyRecord{
				ScopeID: scopeID, Key: key, BodyHash: []byte("hash"), LeaseToken: uuid.New(), LeaseUntil: now,
				Response: response, CreatedAt: now, ExpiresAt: expires,
			}))
		}
		record(scope, "answered", []byte("{}"), now.Add(time.Hour))
		record(scope, "over", []byte("{}"), now)
		record(scope, "processing", nil, now.Add(time.Hour))
		record(scope, "not asked for", []byte("{}"), now.Add(time.Hour))
		record(uuid.New(), "another's", []byte("{}"), now.Add(time.Hour))
		found, err := database.CompletedKeys(ctx, scope, []string{"answered", "over", "processing", "another's", "unknown"}, now)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "answered", found[0].Key)
	})
}

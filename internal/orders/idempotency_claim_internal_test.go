package orders

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/testenv"
)

// A request that takes over an expired key has nothing of the earlier outcome, and the erasure of
// the earlier order gives it none.
func TestClaimKey_forgetsTheEarlierOutcome(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		now, scope, order := time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC), uuid.New(), uuid.New()
		claimAt := func(at time.Time) *models.IdempotencyRecord {
			record := &models.IdempotencyRecord{
				ScopeID: scope, Key: "venta-1", BodyHash: []byte("hash"), LeaseToken: uuid.New(), LeaseUntil: at.Add(time.Minute), CreatedAt: at, ExpiresAt: at.Add(time.Hour),
			}
			response, err := claimKey(t.Context(), database, record, at)
			require.NoError(t, err)
			require.Nil(t, response)
			return record
		}
		count := func(condition string) (rows int) {
			require.NoError(t, database.SQL().QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM idempotency_records WHERE scope_id = '"+scope.String()+"' AND "+condition).Scan(&rows))
			return rows
		}
		require.NoError(t, saveCreated(t.Context(), database, claimAt(now), &Created{Order: &View{Public: Public{ID: order}}, JSON: []byte("{}")}))
		require.Equal(t, 1, count("order_id IS NOT NULL AND response IS NOT NULL"))
		claimAt(now.Add(time.Hour))
		require.Equal(t, 1, count("order_id IS NULL AND response IS NULL"))

		require.NoError(t, replaceResponse(t.Context(), database, order, []byte("{}")))
		require.Equal(t, 1, count("response IS NULL"))
	})
}

// The response to an order's creation comes from an index, however many keys there are.
func TestReplaceResponse_comesFromAnIndex(t *testing.T) {
	t.Parallel()
	database := dbtest.Open(t, testenv.Postgres(t))
	for _, statement := range []string{
		`INSERT INTO idempotency_records (scope_id, key, body_hash, lease_token, lease_until, order_id, response, created_at, expires_at)
			SELECT gen_random_uuid(), 'venta', '', gen_random_uuid(), now(), gen_random_uuid(), '{}', now(), now() FROM generate_series(1, 5000)`,
		"ANALYZE idempotency_records",
	} {
		_, err := database.SQL().ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	rows, err := database.SQL().QueryContext(t.Context(),
		"EXPLAIN UPDATE idempotency_records SET response = '{}' WHERE order_id = '"+uuid.NewString()+"'")
	require.NoError(t, err)
	var plan strings.Builder
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		plan.WriteString(line + "\n")
	}
	require.NoError(t, rows.Err())
	require.Contains(t, plan.String(), "idempotency_order")
}

package db_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"despacho/db"
	"despacho/models"
)

// longestDelete is the largest number of rows that one statement has deleted.
type longestDelete struct{ rows atomic.Int64 }

func (*longestDelete) Name() string { return "longest delete" }

func (l *longestDelete) Initialize(database *gorm.DB) error {
	return database.Callback().Delete().After("gorm:delete").Register("longest delete", func(statement *gorm.DB) {
		l.rows.Store(max(l.rows.Load(), statement.RowsAffected))
	})
}

// However many rows have expired, no statement deletes more than a thousand: an interrupted run
// keeps what it has done, and other writes come in between. What has not expired stays.
func TestClearExpired_manyRows(t *testing.T) {
	each(t, func(t *testing.T, database *db.DB) {
		var longest longestDelete
		require.NoError(t, database.Use(&longest))
		w := newTenant(t, database)
		now := time.Now().UTC().Truncate(time.Microsecond)
		var records []models.IdempotencyRecord
		for i := range 2501 {
			expires := now
			if i == 0 {
				expires = now.Add(time.Second)
			}
			records = append(records, models.IdempotencyRecord{
				ScopeID: w.operator.ID, Key: fmt.Sprintf("venta-%d", i), BodyHash: []byte("hash"), LeaseToken: uuid.New(), LeaseUntil: now, ExpiresAt: expires, CreatedAt: now,
			})
			if len(records) == 500 || i == 2500 {
				require.NoError(t, database.Insert(t.Context(), &records))
				records = nil
			}
		}
		cleared, err := database.ClearExpired(t.Context(), now)
		require.NoError(t, err)
		require.EqualValues(t, 2500, cleared.IdempotencyRecords)
		require.LessOrEqual(t, longest.rows.Load(), int64(1000))
		var left int
		require.NoError(t, database.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM idempotency_records").Scan(&left))
		require.Equal(t, 1, left)
	})
}

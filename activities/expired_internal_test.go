package activities

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/testenv"
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
	testenv.SkipIfShort(t)
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		var longest longestDelete
		require.NoError(t, database.Use(&longest))
		w := dbtest.NewTenant(t, database)
		now := time.Now().UTC().Truncate(time.Microsecond)
		var records []models.IdempotencyRecord
		for i := range 2501 {
			expires := now
			if i == 0 {
				expires = now.Add(time.Second)
			}
			records = append(records, models.IdempotencyRecord{
				ScopeID: w.Operator.ID, Key: fmt.Sprintf("venta-%d", i), BodyHash: []byte("hash"), LeaseToken: uuid.New(), LeaseUntil: now, ExpiresAt: expires, CreatedAt: now,
			})
			if len(records) == 500 || i == 2500 {
				require.NoError(t, database.Insert(t.Context(), &records))
				records = nil
			}
		}
		_, err := clearExpired(t.Context(), database, now)
		require.NoError(t, err)
		require.LessOrEqual(t, longest.rows.Load(), int64(1000))
		var left int
		require.NoError(t, database.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM idempotency_records").Scan(&left))
		require.Equal(t, 1, left)
	})
}

// The database decides by its own clock which entries of the audit log may be deleted. A worker
// whose clock is ahead deletes those, and everything else that has expired.
func TestClearExpired_aClockAheadOfTheDatabases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		now := time.Now().UTC().Truncate(time.Microsecond)
		for _, keptFor := range []time.Duration{-time.Hour, time.Hour} {
			at := now.Add(keptFor - db.DefaultAuditRetention)
			require.NoError(t, database.Audit(t.Context(), models.AuditEntry{OperatorID: w.Operator.ID, At: at, Action: models.AuditSettingsChanged}))
		}
		require.NoError(t, database.Insert(t.Context(), oldEvent(w, now)))

		_, err := clearExpired(t.Context(), database, now.Add(2*time.Hour))
		require.NoError(t, err)
		require.Len(t, dbtest.Rows[models.AuditEntry](t, database, "keep_until < ?", now), 0, "the entry whose time is over for both")
		require.Len(t, dbtest.Rows[models.AuditEntry](t, database, "keep_until > ?", now), 1)
		require.Empty(t, dbtest.Rows[models.FeedEvent](t, database, "created_at < ?", now.Add(-models.FeedRetention/2)), "what is listed after the audit log")
	})
}

// What is wrong with one table is reported, and the tables after it are cleared.
func TestClearExpired_goesOnAfterATableThatFails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		w := dbtest.NewTenant(t, database)
		now := time.Now().UTC().Truncate(time.Microsecond)
		record := models.IdempotencyRecord{ScopeID: w.Operator.ID, Key: "venta", BodyHash: []byte("hash"), LeaseToken: uuid.New(), LeaseUntil: now, ExpiresAt: now, CreatedAt: now}
		require.NoError(t, database.Insert(t.Context(), &record))
		require.NoError(t, database.Insert(t.Context(), oldEvent(w, now)))
		statements := []string{"CREATE TRIGGER refused BEFORE DELETE ON idempotency_records BEGIN SELECT RAISE(ABORT, 'refused'); END"}
		if database.Dialect() == db.Postgres {
			statements = []string{
				"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
				"CREATE TRIGGER refused BEFORE DELETE ON idempotency_records FOR EACH ROW EXECUTE FUNCTION refuse()",
			}
		}
		for _, statement := range statements {
			_, err := database.SQL().ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}

		_, err := clearExpired(t.Context(), database, now.Add(2*time.Hour))
		require.ErrorContains(t, err, "refused")
		require.Empty(t, dbtest.Rows[models.FeedEvent](t, database, "created_at < ?", now.Add(-models.FeedRetention/2)))
	})
}

// oldEvent is an event of the feed that has been there long enough.
func oldEvent(w *dbtest.Tenant, now time.Time) *models.FeedEvent {
	return &models.FeedEvent{
		ID: uuid.New(), OperatorID: w.Operator.ID, StoreID: &w.Store.ID, OrderID: w.Order.ID, Event: models.EventAssigned, Data: "{}",
		CreatedAt: now.Add(-models.FeedRetention),
	}
}

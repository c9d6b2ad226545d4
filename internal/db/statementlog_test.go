package db_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"despacho/internal/db"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// Failed statements are logged without their values; statements that succeed or find nothing are
// not, nor are those that nobody waits for any more.
func TestStatementLog_failuresWithoutValues(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		var log bytes.Buffer
		database, err := db.Open(context.Background(), databaseURL, db.Options{
			Logger: slog.New(slog.NewTextHandler(&log, nil)), SlowStatement: poll.Deadline, ConnectTimeout: poll.Deadline,
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, database.Close()) })
		order := dbtest.NewOrder(t, dbtest.Open(t, databaseURL))
		require.NoError(t, database.Insert(context.Background(), order))
		_, err = database.OrderViewByID(context.Background(), uuid.New())
		require.ErrorIs(t, err, db.ErrNotFound)
		left, leave := context.WithCancel(context.Background())
		leave()
		_, err = database.OrderViewByID(left, order.ID)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, log.String())

		order.ID = uuid.New() // the guide code is taken
		require.Error(t, database.Insert(context.Background(), order))
		require.Contains(t, log.String(), "INSERT INTO")
		require.NotContains(t, log.String(), order.RecipientName)
	})
}

// A slow statement is logged, also if it succeeded.
func TestStatementLog_slowStatements(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		var log bytes.Buffer
		database, err := db.Open(context.Background(), databaseURL, db.Options{
			Logger: slog.New(slog.NewTextHandler(&log, nil)), SlowStatement: time.Nanosecond, ConnectTimeout: poll.Deadline,
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, database.Close()) })
		_, err = database.Zones(context.Background())
		require.NoError(t, err)
		require.Contains(t, log.String(), "WHERE type = ")
	})
}

// GORM renders the statements of Scan in another way than all others.
func TestStatementLog_scan(t *testing.T) {
	t.Parallel()
	testenv.Databases(t, func(t *testing.T, databaseURL string) {
		var log bytes.Buffer
		database, err := db.Open(context.Background(), databaseURL, db.Options{
			Logger: slog.New(slog.NewTextHandler(&log, nil)), SlowStatement: time.Nanosecond, ConnectTimeout: poll.Deadline,
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, database.Close()) })
		count := func(ctx context.Context) error {
			var count int64
			return database.Query(ctx).Table("orders").Where("search_text LIKE ?", "51987654321").Select("COUNT(*)").Scan(&count).Error
		}
		require.NoError(t, count(t.Context()))
		require.Contains(t, log.String(), "search_text LIKE", "a slow one")
		require.NotContains(t, log.String(), "51987654321")

		log.Reset()
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		require.Error(t, count(ended))
		require.Contains(t, log.String(), "search_text LIKE", "a failed one")
		require.NotContains(t, log.String(), "51987654321")
	})
}

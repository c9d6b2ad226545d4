package db_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"despacho/internal/db"
	"despacho/models"
	"despacho/test/dbtest"
	"despacho/test/poll"
	"despacho/test/testenv"
)

// A connection to a standby, made while an address still named it, does not refuse every later
// write.
func TestOpen_aConnectionThatIsReadOnlyIsReplaced(t *testing.T) {
	t.Parallel()
	database, err := db.Open(t.Context(), testenv.Postgres(t), db.Options{MaxConns: 1, ConnectTimeout: poll.Deadline})
	require.NoError(t, err)
	defer database.Close()
	update := func(on *db.DB) error {
		return on.Query(t.Context()).Model(&models.Order{}).Where("id = ?", uuid.New()).UpdateColumn("seq", 1).Error
	}
	write := func() error { return update(database) }
	for name, fail := range map[string]func() error{
		"a statement":   write,
		"a transaction": func() error { return database.InTx(t.Context(), update) },
	} {
		_, err = database.SQL().ExecContext(t.Context(), "SET default_transaction_read_only = on")
		require.NoError(t, err)
		require.True(t, db.IsUnavailable(fail()), name)
		require.NoError(t, write(), name)
	}
}

// A process that stands still in a transaction, or whose machine is gone, does not keep its locks:
// PostgreSQL ends the transaction, others go on, and what it would do next has met an outage.
func TestOpen_aProcessThatStandsStillLosesItsLocks(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	database := dbtest.Open(t, databaseURL)
	w := dbtest.NewTenant(t, database)
	frozen, err := db.Open(t.Context(), databaseURL, db.Options{ConnectTimeout: poll.Deadline, IdleTransaction: time.Second})
	require.NoError(t, err)
	defer frozen.Close()
	err = frozen.InTx(t.Context(), func(tx *db.DB) error {
		lock := func(ctx context.Context, tx *db.DB) error {
			return tx.QueryForUpdate(ctx).Where("id = ?", w.Order.ID).Take(&models.Order{}).Error
		}
		if err := lock(t.Context(), tx); err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(t.Context(), poll.Deadline)
		defer cancel()
		require.NoError(t, database.InTx(waiting, func(other *db.DB) error {
			return lock(waiting, other)
		}))
		return lock(t.Context(), tx)
	})
	require.True(t, db.IsUnavailable(err), "%v", err)
	_, err = frozen.OrderViewByID(t.Context(), w.Order.ID)
	require.NoError(t, err, "it has another connection")
}

// What a person has set for the role or the database stays.
func TestOpen_anotherTimeForIdleTransactionsStays(t *testing.T) {
	t.Parallel()
	databaseURL := testenv.Postgres(t)
	read := func(databaseURL string) (limit string) {
		require.NoError(t, dbtest.Open(t, databaseURL).SQL().QueryRowContext(t.Context(), "SHOW idle_in_transaction_session_timeout").Scan(&limit))
		return limit
	}
	require.Equal(t, "30s", read(databaseURL))
	address, err := url.Parse(databaseURL)
	require.NoError(t, err)
	_, err = dbtest.Open(t, databaseURL).SQL().ExecContext(t.Context(),
		fmt.Sprintf(`ALTER DATABASE "%s" SET idle_in_transaction_session_timeout = '7min'`, strings.TrimPrefix(address.Path, "/")))
	require.NoError(t, err)
	require.Equal(t, "7min", read(databaseURL))
}

// A role or a database may have another level of isolation, at which moves of one order at the same
// time would fail instead of waiting for each other.
func TestOpen_anotherIsolationOfTheDatabase(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			databaseURL := testenv.Postgres(t)
			address, err := url.Parse(databaseURL)
			require.NoError(t, err)
			_, err = dbtest.Open(t, databaseURL).SQL().ExecContext(t.Context(),
				fmt.Sprintf(`ALTER DATABASE "%s" SET default_transaction_isolation = '%s'`, strings.TrimPrefix(address.Path, "/"), level))
			require.NoError(t, err)
			database := dbtest.Open(t, databaseURL)
			w := dbtest.NewTenant(t, database)
			var moves errgroup.Group
			for range 8 {
				moves.Go(func() error {
					return database.InMove(t.Context(), w.Order.ID, uuid.Nil, nil, nil, func(_, writes *db.DB, order *models.Order, _ *db.MoveContext) error {
						return saveNextMove(t, writes, order)
					})
				})
			}
			require.NoError(t, moves.Wait())
		})
	}
}

func TestIsUnavailable_tellsOutagesFromWrongStatements(t *testing.T) {
	t.Parallel()
	for name, sample := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":            {nil, false},
		"no such row":        {db.ErrNotFound, false},
		"wrong statement":    {&pgconn.PgError{Code: "42601"}, false},
		"duplicate":          {&pgconn.PgError{Code: "23505"}, false},
		"another error":      {errors.New("broken"), false},
		"client gone":        {context.Canceled, false},
		"refused":            {&net.OpError{Op: "dial", Err: errors.New("refused")}, true},
		"cut off":            {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		"bad connection":     {driver.ErrBadConn, true},
		"server stopping":    {&pgconn.PgError{Code: "57P01"}, true},
		"stood still":        {&pgconn.PgError{Code: "25P03"}, true},
		"server starting":    {&pgconn.PgError{Code: "57P03"}, true},
		"no connection left": {&pgconn.PgError{Code: "53300"}, true},
		"took too long":      {context.DeadlineExceeded, true},
		"disk full":          {&pgconn.PgError{Code: "53100"}, true},
		"over a disk quota":  {&pgconn.PgError{Code: "XX000", File: "md.c"}, true},
		"a migrated table":   {&pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, true},
		"not supported":      {&pgconn.PgError{Code: "0A000", Routine: "transformSelectStmt"}, false},
		"a server's bug":     {&pgconn.PgError{Code: "XX000", File: "execMain.c"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, sample.want, db.IsUnavailable(sample.err))
		})
	}
}

package testenv_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"despacho/internal/db"
	"despacho/test/poll"
	"despacho/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestDatabases_areMigratedEmptyAndOnesOwn(t *testing.T) {
	t.Parallel()
	for _, round := range []string{"one", "another"} {
		t.Run(round, func(t *testing.T) {
			t.Parallel()
			testenv.Databases(t, func(t *testing.T, databaseURL string) {
				require.True(t, strings.HasPrefix(databaseURL, filepath.Base(t.Name())), databaseURL)
				database, err := db.Open(t.Context(), databaseURL, db.Options{})
				require.NoError(t, err)
				defer database.Close()
				require.NoError(t, database.CheckVersion(t.Context()))

				var countries int
				require.NoError(t, database.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM countries").Scan(&countries))
				require.Zero(t, countries, "the catalog is not loaded, and no other test is here")
				_, err = database.SQL().ExecContext(t.Context(), `INSERT INTO countries (code, name, phone_prefix, currency, timezone, document_name)
					VALUES ('PE', 'Perú', '+51', 'PEN', 'America/Lima', 'DNI')`)
				require.NoError(t, err)
			})
		})
	}
}

func TestPostgres_isDroppedWhenTheTestEnds(t *testing.T) {
	t.Parallel()
	var databaseURL string
	t.Run("a test", func(t *testing.T) { databaseURL = testenv.Postgres(t) })
	if databaseURL == "" {
		t.Skip("no PostgreSQL")
	}
	_, err := pgx.Connect(t.Context(), databaseURL)
	require.ErrorContains(t, err, "does not exist")
}

func TestSQLite_isRemovedWhenTheTestEnds(t *testing.T) {
	t.Parallel()
	var databaseURL string
	t.Run("a test", func(t *testing.T) { databaseURL = testenv.SQLite(t) })
	_, err := os.Stat(strings.TrimPrefix(databaseURL, "sqlite:"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestTemporal_takesAnOrderWithItsSearchAttributes(t *testing.T) {
	t.Parallel()
	connection := testenv.DialTemporal(t, client.Options{})
	require.NotEmpty(t, testenv.SearchAttributes)
	queue := testenv.TaskQueue(t)
	require.NotEqual(t, queue, testenv.TaskQueue(t))

	var attributes []temporal.SearchAttributeUpdate
	for name, kind := range testenv.SearchAttributes {
		require.Equal(t, "Keyword", kind)
		attributes = append(attributes, temporal.NewSearchAttributeKeyKeyword(name).ValueSet("a value"))
	}
	run, err := connection.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		TaskQueue: queue, TypedSearchAttributes: temporal.NewSearchAttributes(attributes...),
	}, "Order")
	require.NoError(t, err)
	require.NoError(t, connection.TerminateWorkflow(t.Context(), run.GetID(), "", "the test is over"))
}

// recordingTB is a test that records its failure instead of recordingTB.
type recordingTB struct {
	testing.TB
	failed chan string
}

func (f recordingTB) Helper() {}

func (f recordingTB) Fatalf(format string, args ...any) {
	f.failed <- fmt.Sprintf(format, args...)
	panic("the test ends here")
}

func TestUntil(t *testing.T) {
	t.Parallel()
	tries := 0
	poll.Until(t, func() error {
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	require.Equal(t, 3, tries)

	synctest.Test(t, func(t *testing.T) { // the deadline passes at once
		recorder := recordingTB{TB: t, failed: make(chan string, 1)}
		require.Panics(t, func() {
			poll.Until(recorder, func() error { return errors.New("still registered") })
		})
		require.Contains(t, <-recorder.failed, "still registered")
	})
}
